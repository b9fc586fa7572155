package deploy

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// rpm runs this machine's rpm on the system's root. --nodeps, because the system has Debian's packages;
// --force-debian, because Debian's rpm refuses to install otherwise. The package's scripts run inside.
func (d debian) rpm(args ...string) string {
	d.t.Helper()
	out, err := exec.Command("rpm", append([]string{"--root", d.root, "--nodeps", "--force-debian"}, args...)...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("rpm %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestRPM installs the rpm, serves, upgrades and removes it. The configuration and the data have to
// survive as docs/install.md says.
func TestRPM(t *testing.T) {
	if testing.Short() {
		t.Skip("creates a Debian system")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can install a package into another root directory")
	}
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skipf("rpm is not installed: %v", err)
	}
	d, nfpm := newDebian(t), packageTool(t)
	first, second := d.buildPackage(nfpm, "rpm", "100000000000.dirty"), d.buildPackage(nfpm, "rpm", "200000000000.dirty")

	if out := d.rpm("-i", d.path(first)); !strings.Contains(out, nextStep) {
		t.Errorf("the installation does not print the next step:\n%s", out)
	}
	d.checkFiles("/usr/share/zsh/site-functions/_pingpost", "/usr/share/licenses/pingpost/LICENSE")
	if got := d.run("pingpost", "version"); !strings.HasSuffix(got, "+100000000000.dirty\n") {
		t.Errorf("the program's version: %q", got)
	}
	d.rpm("-V", "pingpost")
	config, admin := d.writeSettings()
	d.serve(admin, func() {
		if out := d.rpm("-U", d.path(second)); strings.Contains(out, nextStep) {
			t.Errorf("the upgrade asks for a password again:\n%s", out)
		}
	})
	if got := d.run("pingpost", "version"); !strings.HasSuffix(got, "+200000000000.dirty\n") {
		t.Errorf("the program's version after the upgrade: %q", got)
	}
	if got := readFile(t, d.path("etc/pingpost/pingpost.yaml")); got != config {
		t.Errorf("the upgrade changed the configuration:\n%s", got)
	}
	d.checkFiles("/usr/share/zsh/site-functions/_pingpost", "/usr/share/licenses/pingpost/LICENSE")
	d.serve(admin, func() {})

	d.rpm("-e", "pingpost")
	if d.has("usr/bin/pingpost") || readFile(t, d.path("etc/pingpost/pingpost.yaml.rpmsave")) != config || !d.has("etc/pingpost/env.rpmsave") || !d.has("var/lib/pingpost/data/log") {
		t.Error("a removal has to remove the program, and keep the configuration as .rpmsave and the data")
	}
}
