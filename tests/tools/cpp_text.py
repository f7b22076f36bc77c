"""C++ source as the checks see it: without comments and the insides of literals, line numbers kept."""

import re

TOKEN = re.compile(
    r"""(?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)"""
    r"""|(?P<raw>R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)")"""
    r"""|(?P<string>"(?:[^"\\\n]|\\.)*")"""
    r"""|(?P<separator>(?<=[0-9a-fA-F])'(?=[0-9a-fA-F]))"""
    r"""|(?P<character>'(?:[^'\\\n]|\\.)+')""",
    re.DOTALL,
)


def code_only(text):
    """`text` with comments blanked and literals emptied; every line stays where it was."""

    def blank(match):
        lines = "\n" * match.group().count("\n")
        if match["comment"]:
            return " " + lines
        if match["separator"]:
            return ""
        return ('""' if match["raw"] or match["string"] else "''") + lines

    return TOKEN.sub(blank, text)


def sources(root, suffixes=(".cpp", ".hpp")):
    return sorted(path for path in root.rglob("*") if path.suffix in suffixes)
