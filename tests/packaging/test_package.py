"""The Debian package: made from this build, holding what it should and nothing else."""

import os
import pathlib
import subprocess
import tempfile
import unittest


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=100).stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="retryd-package-")))
        run(os.environ["CPACK"], "--config", f"{os.environ['RETRYD_BUILD']}/CPackConfig.cmake", "-G", "DEB", "-B", str(cls.folder / "out"))
        (cls.package,) = (cls.folder / "out").glob("*.deb")
        run("dpkg-deb", "--raw-extract", str(cls.package), str(cls.folder / "tree"))
        cls.tree = cls.folder / "tree"

    def field(self, name):
        return run("dpkg-deb", "--field", str(self.package), name).strip()

    def test_it_holds_the_programs_the_units_the_documents_and_an_example(self):
        files = {str(path.relative_to(self.tree)) for path in self.tree.rglob("*") if path.is_file()}
        documents = {name for name in files if name.startswith("usr/share/doc/retryd/")}
        self.assertEqual(
            files - documents,
            {"usr/bin/retryd", "usr/bin/retryctl", "usr/lib/systemd/system/retryd.service", "usr/lib/systemd/system/retryd@.service",
             "etc/retryd/retryd.yaml.example"} | {f"DEBIAN/{name}" for name in ("control", "md5sums", "conffiles", "postinst", "prerm", "postrm")})
        self.assertLessEqual(
            {f"usr/share/doc/retryd/{name}" for name in ("README.md", "operations.md", "tls.md", "metrics.md", "copyright", "examples/full.yaml")}, documents)

    def test_the_programs_run_and_are_stripped(self):
        for name in ("retryd", "retryctl"):
            program = self.tree / "usr/bin" / name
            self.assertEqual(run(str(program), "--version"), f"{name} {self.field('Version')}\n")
            self.assertNotIn(b".debug_info", program.read_bytes())

    def test_its_dependencies_are_read_from_the_programs(self):
        for library in ("libc6", "librabbitmq4", "libssl3", "libyaml-cpp0.7", "passwd"):
            self.assertIn(library, self.field("Depends"))

    def test_everything_belongs_to_root_and_nobody_else_can_change_it(self):
        for line in run("dpkg-deb", "--contents", str(self.package)).splitlines():
            mode, owner = line.split()[:2]
            self.assertEqual(owner, "root/root", line)
            self.assertEqual((mode[5], mode[8]), ("-", "-"), line)

    def test_what_lies_in_etc_is_kept_over_an_upgrade(self):
        listed = (self.tree / "DEBIAN/conffiles").read_text(encoding="utf-8").split()
        self.assertEqual(listed, [f"/{path.relative_to(self.tree)}" for path in (self.tree / "etc").rglob("*") if path.is_file()])

    def test_the_scripts_are_sound_shell(self):
        for name in ("postinst", "prerm", "postrm"):
            script = self.tree / "DEBIAN" / name
            self.assertTrue(os.access(script, os.X_OK))
            run("sh", "-n", str(script))
