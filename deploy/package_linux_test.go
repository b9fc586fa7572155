package deploy

import (
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pingpost/internal/must"
)

const (
	debianSuite   = "bookworm"
	adminPassword = "a-password-of-this-test"
	nextStep      = "Set PINGPOST_ADMIN_PASSWORD in /etc/pingpost/env"
)

// debian is a new Debian system in a folder, with the essential packages only.
type debian struct {
	t    *testing.T
	root string
}

func newDebian(t *testing.T) debian {
	t.Helper()
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		t.Skipf("mmdebstrap is not installed, which creates a Debian system in a folder: %v", err)
	}
	root := filepath.Join(t.TempDir(), "root")
	out, err := exec.Command("mmdebstrap", "--quiet", "--mode=root", "--variant=essential", "--include=passwd", debianSuite, root).CombinedOutput()
	if err != nil && os.Getenv("CI") == "" {
		t.Skipf("cannot create a Debian system; is Debian's mirror reachable? %v\n%s", err, out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return debian{t, root}
}

// command returns a command in the system, as a user. The system shares the network and the
// processes of this machine, and has no systemd.
func (d debian) command(user string, args ...string) *exec.Cmd {
	cmd := exec.Command("chroot", append([]string{"--userspec=" + user, d.root}, args...)...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "PINGPOST_ADMIN_PASSWORD=" + adminPassword}
	return cmd
}

func (d debian) run(args ...string) string {
	d.t.Helper()
	out, err := d.command("root:root", args...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (d debian) path(name string) string { return filepath.Join(d.root, name) }

func (d debian) has(name string) bool {
	_, err := os.Lstat(d.path(name))
	return err == nil
}

// serve starts the program as the service's user with the installed configuration, and calls
// do when it is ready. Then it stops the program.
func (d debian) serve(admin string, do func()) {
	d.t.Helper()
	serving := d.command("pingpost:pingpost", "/usr/bin/pingpost", "serve", "--config", "/etc/pingpost/pingpost.yaml")
	output := must.Value(os.Create(filepath.Join(d.t.TempDir(), "output")))(d.t)
	defer output.Close()
	serving.Stdout, serving.Stderr = output, output
	must.Succeed(d.t, serving.Start())
	d.t.Cleanup(func() { _ = serving.Process.Kill() })
	if out, err := d.command("root:root", "pingpost", "health", "--wait", "1m", "--admin", "http://"+admin).CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s\n%s", err, out, readFile(d.t, output.Name()))
	}
	answer, err := http.Get("http://" + admin + "/readyz")
	must.Succeed(d.t, err)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		d.t.Errorf("/readyz answers %s", answer.Status)
	}
	do()
	must.Succeed(d.t, serving.Process.Signal(syscall.SIGTERM))
	if err := serving.Wait(); err != nil {
		d.t.Errorf("%v\n%s", err, readFile(d.t, output.Name()))
	}
}

// buildPackage builds the package in a format (deb or rpm) for this machine's processor and copies it
// into the system. The commit appears in the package's version and in the program's.
func (d debian) buildPackage(nfpm, format, commit string) (path string) {
	d.t.Helper()
	out := filepath.Join(d.t.TempDir(), "out")
	build := exec.Command("./release.sh", out, format)
	architecture := strings.TrimSpace(string(must.Value(exec.Command("go", "env", "GOHOSTARCH").Output())(d.t)))
	build.Env = append(os.Environ(), "NFPM="+nfpm, "ARCHITECTURES="+architecture, "COMMIT="+commit, "SOURCE_DATE_EPOCH=1700000000")
	if text, err := build.CombinedOutput(); err != nil {
		d.t.Fatalf("%v\n%s", err, text)
	}
	found := must.Value(filepath.Glob(filepath.Join(out, "pingpost*."+format)))(d.t)
	if len(found) != 1 {
		d.t.Fatalf("packages: %q", found)
	}
	path = "/" + commit + "." + format
	must.Succeed(d.t, os.Rename(found[0], d.path(path)))
	return path
}

// packageTool returns the path of nfpm, in the version of the Makefile.
func packageTool(t *testing.T) string {
	t.Helper()
	build := exec.Command("make", "--no-print-directory", "-s", "-C", "..", "package-tool")
	var errs strings.Builder
	build.Stderr = &errs
	out, err := build.Output()
	if err != nil {
		t.Fatalf("cannot build nfpm: %v\n%s", err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

// TestPackageOnDebian installs the package on a new Debian system, serves, upgrades, removes and
// purges it. The configuration and the data have to survive as docs/install.md says.
func TestPackageOnDebian(t *testing.T) {
	if testing.Short() {
		t.Skip("creates a Debian system")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can install a package into another root directory")
	}
	d, nfpm := newDebian(t), packageTool(t)
	first, second := d.buildPackage(nfpm, "deb", "000000000000.dirty"), d.buildPackage(nfpm, "deb", "ffffffffffff.dirty")

	if out := d.run("dpkg", "-i", first); !strings.Contains(out, nextStep) {
		t.Errorf("the installation does not print the next step:\n%s", out)
	}
	d.checkFiles("/usr/share/zsh/vendor-completions/_pingpost", "/usr/share/doc/pingpost/copyright")
	if got := d.run("pingpost", "version"); !strings.HasSuffix(got, "+000000000000.dirty\n") {
		t.Errorf("the program's version: %q", got)
	}
	if out, err := d.command("root:root", "env", "-u", "PINGPOST_ADMIN_PASSWORD", "pingpost", "validate", "/etc/pingpost/pingpost.yaml").CombinedOutput(); err == nil || !strings.Contains(string(out), "PINGPOST_ADMIN_PASSWORD") {
		t.Errorf("validate without a password: %v\n%s", err, out)
	}

	config, admin := d.writeSettings()
	d.serve(admin, func() {
		if out := d.run("dpkg", "-i", second); strings.Contains(out, nextStep) {
			t.Errorf("the upgrade asks for a password again:\n%s", out)
		}
	})
	if got := d.run("pingpost", "version"); !strings.HasSuffix(got, "+ffffffffffff.dirty\n") {
		t.Errorf("the program's version after the upgrade: %q", got)
	}
	if got := readFile(t, d.path("etc/pingpost/pingpost.yaml")); got != config {
		t.Errorf("the upgrade changed the configuration:\n%s", got)
	}
	d.checkFiles("/usr/share/zsh/vendor-completions/_pingpost", "/usr/share/doc/pingpost/copyright")
	d.serve(admin, func() {})

	d.run("dpkg", "-r", "pingpost")
	if d.has("usr/bin/pingpost") || !d.has("etc/pingpost/env") || readFile(t, d.path("etc/pingpost/pingpost.yaml")) != config || !d.has("var/lib/pingpost/data/log") {
		t.Error("a removal has to remove the program, and keep the configuration and the data")
	}
	out := d.run("dpkg", "-P", "pingpost")
	if d.has("etc/pingpost") || !d.has("var/lib/pingpost/data/log") || !strings.Contains(out, "/var/lib/pingpost keeps the data") {
		t.Errorf("a purge has to remove the configuration, keep the data and report that:\n%s", out)
	}
}

// writeSettings writes the operator's settings into the installed files. It returns the configuration
// and the admin address.
func (d debian) writeSettings() (config, admin string) {
	d.t.Helper()
	public, admin := freeAddress(d.t), freeAddress(d.t)
	config = strings.NewReplacer("127.0.0.1:8080", public, "127.0.0.1:9090", admin).Replace(readFile(d.t, d.path("etc/pingpost/pingpost.yaml")))
	must.Succeed(d.t, os.WriteFile(d.path("etc/pingpost/pingpost.yaml"), []byte(config), 0o600))
	d.run("sh", "-c", "echo PINGPOST_ADMIN_PASSWORD="+adminPassword+" >>/etc/pingpost/env")
	d.run("pingpost", "validate", "/etc/pingpost/pingpost.yaml")
	return config, admin
}

// checkFiles compares owners and modes of the installed files, and the unit's paths. The paths of the
// completion for zsh and of the license differ between the formats.
func (d debian) checkFiles(zsh, license string) {
	d.t.Helper()
	want := `root:root 755 /usr/bin/pingpost
root:root 644 /usr/lib/systemd/system/pingpost.service
root:pingpost 750 /etc/pingpost
root:pingpost 640 /etc/pingpost/pingpost.yaml
root:root 600 /etc/pingpost/env
pingpost:pingpost 700 /var/lib/pingpost
root:root 644 /usr/share/bash-completion/completions/pingpost
root:root 644 ` + zsh + `
root:root 644 ` + license + "\n"
	command := []string{"stat", "-c", "%U:%G %a %n"}
	for line := range strings.Lines(want) {
		command = append(command, strings.Fields(line)[2])
	}
	if got := d.run(command...); got != want {
		d.t.Errorf("the files are\n%swant\n%s", got, want)
	}
	unit := readFile(d.t, d.path("usr/lib/systemd/system/pingpost.service"))
	for _, key := range []string{"ExecStartPre", "ExecStart"} {
		for _, value := range unitValues(unit, key) {
			if path := strings.Fields(value)[0]; !d.has(path) {
				d.t.Errorf("the unit runs %s, which the package does not have", path)
			}
		}
	}
	if text := readFile(d.t, d.path("usr/share/bash-completion/completions/pingpost")); !strings.Contains(text, " /usr/bin/pingpost ") {
		d.t.Errorf("the completion does not run the installed program: %s", text)
	}
	if info := must.Value(os.Stat(d.path("usr/bin/pingpost")))(d.t); info.Mode()&fs.ModeSetuid != 0 {
		d.t.Error("the program is setuid")
	}
}
