"""A terminal's picture as SVG. Letters are text; bars are rectangles, so that they are whole in whatever font there is."""

import re
from html import escape

CELL, ROW, SIZE = 8.4, 18, 14  # a column, a line, the letters; in pixels
MARGIN, BAR = 16, 34  # round the text; the window's title bar
PAPER, EDGE, INK = "#1c2128", "#444c56", "#cdd3da"
COLOURS = {"1": "#f0f3f6", "2": "#8b949e", "31": "#e08a7f", "32": "#7cb98a", "33": "#d9b36c", "36": "#79b4c9"}
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SPAN = re.compile(r"(?:\x1b\[(\d+)m)?([^\x1b]+)(?:\x1b\[0m)?")
PIECE = re.compile(r"[\u2581-\u258f]+|[^\s\u2581-\u258f]+(?: [^\s\u2581-\u258f]+)*")


def block(character):
    """What part of its cell a block character fills: (width, height) of 1."""
    eighth = ord(character) - 0x2580
    return (1, eighth / 8) if eighth <= 8 else ((16 - eighth) / 8, 1)


def number(value):
    return f"{value:.1f}".removesuffix(".0")


def text(column, y, words, code):
    weight = ' font-weight="600"' if code == "1" else ""
    place = f'x="{number(MARGIN + column * CELL)}" y="{number(y)}" textLength="{number(len(words) * CELL)}"'
    return f'<text {place} fill="{COLOURS.get(code, INK)}"{weight}>{escape(words)}</text>'


def rectangles(column, top, blocks, code):
    """Equal blocks beside one another are one rectangle."""
    for match in re.finditer(r"(.)\1*", blocks):
        width, height = block(match[1])
        x, tall = MARGIN + (column + match.start()) * CELL, 0.8 * ROW * height
        wide = len(match[0]) * CELL * width if width == 1 else CELL * width
        place = f'x="{number(x)}" y="{number(top + 0.9 * ROW - tall)}" width="{number(wide)}" height="{number(tall)}"'
        yield f'<rect {place} fill="{COLOURS.get(code, INK)}"/>'


def line_elements(line, top):
    column = 0
    for span in SPAN.finditer(line):
        code, words = span.groups()
        for piece in PIECE.finditer(words):
            at = column + piece.start()
            if "\u2581" <= piece[0][0] <= "\u258f":
                yield from rectangles(at, top, piece[0], code)
            else:
                yield text(at, top + 0.75 * ROW, piece[0], code)
        column += len(words)


def window(width, height, title):
    place = f'x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"'
    yield f'<rect {place} shape-rendering="auto" fill="{PAPER}" stroke="{EDGE}"/>'
    for at, colour in ((20, "#c9655c"), (38, "#c9a250"), (56, "#6a9f6d")):
        yield f'<circle cx="{at}" cy="{BAR / 2:g}" r="5.5" shape-rendering="auto" fill="{colour}"/>'
    yield f'<text x="{width / 2:g}" y="{BAR / 2 + 5:g}" text-anchor="middle" fill="{COLOURS["2"]}">{escape(title)}</text>'
    yield f'<path d="M1 {BAR}H{width - 1}" stroke="{EDGE}"/>'


def svg(lines, title, columns=80):
    width, height = round(2 * MARGIN + columns * CELL), BAR + 2 * MARGIN + len(lines) * ROW
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
    yield head
    yield f"<title>{escape(title)}</title>"
    yield f'<g font-family="{FONT}" font-size="{SIZE}" shape-rendering="crispEdges">'
    yield from window(width, height, title)
    for index, line in enumerate(lines):
        yield from line_elements(line, BAR + MARGIN + index * ROW)
    yield "</g>\n</svg>\n"
