package deploy

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pingpost/internal/must"
)

// image is the result of the Dockerfile: a root directory and the settings to run it.
type image struct {
	root                    string
	entrypoint, cmd, health []string
	user                    uint32
	volume                  string
}

// instructions returns a Dockerfile's instructions, each with its arguments.
func instructions(text string) (found [][2]string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		found = append(found, [2]string{name, strings.TrimSpace(rest)})
	}
	return found
}

// buildDir is the folder that buildProgram created, or "".
var buildDir string

// buildProgram builds the image's files once, with the Dockerfile's own commands. It returns
// their folder.
var buildProgram = sync.OnceValues(func() (stage string, err error) {
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		return "", err
	}
	if stage, err = os.MkdirTemp("", "pingpost-image"); err != nil {
		return "", err
	}
	buildDir = stage
	for _, i := range instructions(string(text)) {
		if i[0] != "RUN" {
			continue
		}
		command := strings.NewReplacer("/image/", stage+"/image/", "/state/", stage+"/state/").Replace(i[1])
		shell := exec.Command("sh", "-euc", command)
		shell.Dir, shell.Env = "..", append(os.Environ(), "COMMIT=abcdef012345.dirty")
		if out, err := shell.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", command, err, out)
		}
	}
	return stage, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if buildDir != "" {
		_ = os.RemoveAll(buildDir)
	}
	os.Exit(code)
}

func buildStage(t *testing.T) (stage string) {
	t.Helper()
	return must.Value(buildProgram())(t)
}

// newImage replaces docker: it copies the last stage's files and reads its settings. It
// rejects unknown instructions.
func newImage(t *testing.T) (i image) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can run a program in another root directory")
	}
	text := must.Value(os.ReadFile("Dockerfile"))(t)
	stage := buildStage(t)
	_, last, scratch := strings.Cut(string(text), "\nFROM scratch\n")
	if !scratch {
		t.Fatal("the last stage of the image is not FROM scratch")
	}
	i.root = t.TempDir()
	must.Succeed(t, os.Chmod(i.root, 0o755)) //nolint:gosec // like a container's root
	for _, one := range instructions(last) {
		switch one[0] {
		case "COPY":
			i.copy(t, stage, strings.Fields(one[1]))
		case "USER":
			if _, err := fmt.Sscanf(one[1], "%d:%d", &i.user, new(int)); err != nil || i.user == 0 {
				t.Fatalf("USER %s: %v", one[1], err)
			}
		case "VOLUME":
			i.volume = one[1]
		case "ENTRYPOINT":
			i.entrypoint = parseWords(t, one[1])
		case "CMD":
			i.cmd = parseWords(t, one[1])
		case "HEALTHCHECK":
			_, command, _ := strings.Cut(one[1], " CMD ")
			i.health = parseWords(t, command)
		case "EXPOSE":
		default:
			t.Fatalf("this test does not support the instruction %s", one[0])
		}
	}
	if i.user == 0 || i.volume == "" || len(i.entrypoint) == 0 || len(i.cmd) == 0 || len(i.health) == 0 {
		t.Fatalf("%+v", i)
	}
	return i
}

func parseWords(t *testing.T, list string) (found []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(list), &found); err != nil {
		t.Fatalf("%s is not a JSON list of strings: %v", list, err)
	}
	return found
}

func (i *image) copy(t *testing.T, stage string, args []string) {
	t.Helper()
	owner := "0:0"
	for len(args) > 2 {
		if to, found := strings.CutPrefix(args[0], "--chown="); found {
			owner = to
		} else if args[0] != "--from=build" {
			t.Fatalf("COPY %v", args)
		}
		args = args[1:]
	}
	if args[1] != "/" {
		t.Fatalf("COPY to %s", args[1])
	}
	from := filepath.Join(stage, args[0])
	shell := exec.Command("sh", "-euc", `cd "$0"; find . -mindepth 1 | sort | while read -r f; do
		if [ -d "$f" ]; then [ -d "$1/$f" ] || { mkdir -m "$(stat -c %a "$f")" "$1/$f"; chown "$2" "$1/$f"; }; else cp "$f" "$1/$f"; chown "$2" "$1/$f"; fi; done`, from, i.root, owner)
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// run returns a command that runs in the image, as its user and with an empty environment.
func (i *image) run(args []string, env ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = "/", append([]string{"PATH=/"}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: i.root, Credential: &syscall.Credential{Uid: i.user, Gid: i.user}}
	return cmd
}

// files returns all files of the image except those in the volume.
func (i *image) files(t *testing.T) (found []string) {
	t.Helper()
	must.Succeed(t, filepath.WalkDir(i.root, func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, i.root)
		if err == nil && !entry.IsDir() && !strings.HasPrefix(name, i.volume+"/") {
			found = append(found, name)
		}
		return err
	}))
	return found
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	return listener.Addr().String()
}

// serviceConfig is the configuration of an exchange in a container or a service.
const serviceConfig = `data_dir: /var/lib/pingpost/data
listen: %s
admin: {listen: "%s"}
suppliers: [{id: sup_acme, api_key: "${KEY}", ingest_rate: 1000000}]
buyers: [{id: buy_rest, time_zone: America/New_York, caps: [{per: day, count: 1000}]}]
campaigns: [{id: cmp_fixed, method: waterfall, time_zone: Australia/Sydney, duplicates: {window: 0s}, buyers: [{buyer: buy_rest, price: 5}]}]
`

// TestImageServes: with only the image's files and its user, an exchange starts, reports its
// health, sells, stops in order, and writes only to its volume.
func TestImageServes(t *testing.T) {
	i := newImage(t)
	want := []string{"/etc/ssl/certs/ca-certificates.crt", "/pingpost"}
	if got := i.files(t); !slices.Equal(got, want) {
		t.Errorf("the image has %q, want %q", got, want)
	}
	public, admin := freeAddress(t), freeAddress(t)
	config := filepath.Join(i.root, i.cmd[len(i.cmd)-1])
	must.Succeed(t, os.MkdirAll(filepath.Dir(config), 0o755))                                           //nolint:gosec // as it is mounted
	if err := os.WriteFile(config, fmt.Appendf(nil, serviceConfig, public, admin), 0o644); err != nil { //nolint:gosec // likewise
		t.Fatal(err)
	}
	before := i.files(t)
	health := append(slices.Clone(i.health), "--admin", "http://"+admin)
	if out, err := i.run(health).CombinedOutput(); err == nil {
		t.Errorf("the health check succeeds before the start: %s", out)
	}
	output := must.Value(os.Create(filepath.Join(t.TempDir(), "output")))(t)
	defer output.Close()
	serving := i.run(append(slices.Clone(i.entrypoint), i.cmd...), "KEY="+apiKey)
	serving.Stdout, serving.Stderr = output, output
	must.Succeed(t, serving.Start())
	t.Cleanup(func() { _ = serving.Process.Kill() })
	if out, err := i.run(append(health, "--wait", "1m")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, readFile(t, output.Name()))
	}
	if err := send("http://"+public, "cmp_fixed"); err != nil {
		t.Error(err)
	}
	must.Succeed(t, serving.Process.Signal(syscall.SIGTERM))
	if err := serving.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, readFile(t, output.Name()))
	}
	if got := i.files(t); !slices.Equal(got, before) {
		t.Errorf("the exchange wrote outside its volume: %q, before %q", got, before)
	}
	if _, err := os.Stat(filepath.Join(i.root, i.volume, "data", "log")); err != nil {
		t.Errorf("the volume has no log: %v", err)
	}
}

// TestImageTrustsIssuers: the program trusts the issuers of TLS certificates in the image.
func TestImageTrustsIssuers(t *testing.T) {
	i := newImage(t)
	tlsServer := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	tlsServer.Config.ErrorLog = log.New(io.Discard, "", 0) // the first handshake must fail
	tlsServer.StartTLS()
	defer tlsServer.Close()
	health := append(slices.Clone(i.health), "--admin", tlsServer.URL)
	out, err := i.run(health).CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("unknown authority")) {
		t.Errorf("the certificate of an unknown issuer: %v, %s", err, out)
	}
	issuers := must.Value(os.OpenFile(filepath.Join(i.root, "etc/ssl/certs/ca-certificates.crt"), os.O_APPEND|os.O_WRONLY, 0))(t)
	defer issuers.Close()
	must.Succeed(t, pem.Encode(issuers, &pem.Block{Type: "CERTIFICATE", Bytes: tlsServer.Certificate().Raw}))
	if out, err := i.run(health).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestImageIsStatic: the program needs no loader and no library, and reports its version.
func TestImageIsStatic(t *testing.T) {
	binary := filepath.Join(buildStage(t), "image", "pingpost")
	file := must.Value(elf.Open(binary))(t)
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program needs a loader")
		}
	}
	if out, err := exec.Command(binary, "version").Output(); err != nil || !strings.HasSuffix(string(out), "+abcdef012345.dirty\n") {
		t.Errorf("%q, %v", out, err)
	}
}
