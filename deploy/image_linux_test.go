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
)

// image is what the Dockerfile comes to: a root of files, and how it is run.
type image struct {
	root             string
	entry, cmd, well []string // the last is what says that it is well
	user             uint32
	volume           string
}

// instructions are a Dockerfile's, each with its arguments.
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

// made is the folder that program made, if it was called.
var made string

// program is the binary as the image has it, built once by the image's own commands.
var program = sync.OnceValues(func() (stage string, err error) {
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		return "", err
	}
	if stage, err = os.MkdirTemp("", "pingpost-image"); err != nil {
		return "", err
	}
	made = stage
	for _, i := range instructions(string(text)) {
		if i[0] != "RUN" {
			continue
		}
		command := strings.NewReplacer("/image/", stage+"/image/", "/state/", stage+"/state/").Replace(i[1])
		shell := exec.Command("sh", "-euc", command)
		shell.Dir, shell.Env = "..", append(os.Environ(), "VERSION=of-a-test")
		if out, err := shell.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", command, err, out)
		}
	}
	return stage, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if made != "" {
		_ = os.RemoveAll(made)
	}
	os.Exit(code)
}

func built(t *testing.T) (stage string) {
	t.Helper()
	stage, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return stage
}

// newImage does by hand what docker does: the last stage's files and settings. What it
// does not know it does not pass over.
func newImage(t *testing.T) (i image) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("to run a program in a root of its own needs to be root")
	}
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	stage := built(t)
	_, last, scratch := strings.Cut(string(text), "\nFROM scratch\n")
	if !scratch {
		t.Fatal("the image is not made from scratch")
	}
	i.root = t.TempDir()
	if err := os.Chmod(i.root, 0o755); err != nil { //nolint:gosec // as a container's root is
		t.Fatal(err)
	}
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
			i.entry = words(t, one[1])
		case "CMD":
			i.cmd = words(t, one[1])
		case "HEALTHCHECK":
			_, command, _ := strings.Cut(one[1], " CMD ")
			i.well = words(t, command)
		case "EXPOSE":
		default:
			t.Fatalf("the test does not know %s: teach it", one[0])
		}
	}
	if i.user == 0 || i.volume == "" || len(i.entry) == 0 || len(i.cmd) == 0 || len(i.well) == 0 {
		t.Fatalf("%+v", i)
	}
	return i
}

func words(t *testing.T, list string) (found []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(list), &found); err != nil {
		t.Fatalf("%s is no list of words: %v", list, err)
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

// run is a command in the image, as its user and with nothing in the environment.
func (i *image) run(args []string, env ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = "/", append([]string{"PATH=/"}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: i.root, Credential: &syscall.Credential{Uid: i.user, Gid: i.user}}
	return cmd
}

// files are all that there is in the image, but for the volume's.
func (i *image) files(t *testing.T) (found []string) {
	t.Helper()
	err := filepath.WalkDir(i.root, func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, i.root)
		if err == nil && !entry.IsDir() && !strings.HasPrefix(name, i.volume+"/") {
			found = append(found, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

const contained = `data_dir: /var/lib/pingpost/data
listen: %s
admin: {listen: "%s"}
suppliers: [{id: sup_acme, api_key: "${KEY}", ingest_rate: 1000000}]
buyers: [{id: buy_rest, time_zone: America/New_York, caps: [{per: day, count: 1000}]}]
campaigns: [{id: cmp_fixed, method: waterfall, time_zone: Australia/Sydney, duplicates: {window: 0s}, buyers: [{buyer: buy_rest, price: 5}]}]
`

// TestImageServes: with no more than the image has, as nobody, an exchange starts, says
// that it is well, sells, stops in order, and writes nowhere but to its volume.
func TestImageServes(t *testing.T) {
	i := newImage(t)
	want := []string{"/etc/ssl/certs/ca-certificates.crt", "/pingpost"}
	if got := i.files(t); !slices.Equal(got, want) {
		t.Errorf("the image has %q, want %q", got, want)
	}
	public, admin := freeAddress(t), freeAddress(t)
	config := filepath.Join(i.root, i.cmd[len(i.cmd)-1])
	if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil { //nolint:gosec // as it is mounted
		t.Fatal(err)
	}
	if err := os.WriteFile(config, fmt.Appendf(nil, contained, public, admin), 0o644); err != nil { //nolint:gosec // likewise
		t.Fatal(err)
	}
	before := i.files(t)
	well := append(slices.Clone(i.well), "--admin", "http://"+admin)
	if out, err := i.run(well).CombinedOutput(); err == nil {
		t.Errorf("it is well before it was started: %s", out)
	}
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	serving := i.run(append(slices.Clone(i.entry), i.cmd...), "KEY="+apiKey)
	serving.Stdout, serving.Stderr = said, said
	if err := serving.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = serving.Process.Kill() })
	if out, err := i.run(append(well, "--wait", "1m")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, readFile(t, said.Name()))
	}
	if err := send("http://"+public, "cmp_fixed"); err != nil {
		t.Error(err)
	}
	if err := serving.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serving.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, readFile(t, said.Name()))
	}
	if got := i.files(t); !slices.Equal(got, before) {
		t.Errorf("it wrote outside of its volume: %q, before %q", got, before)
	}
	if _, err := os.Stat(filepath.Join(i.root, i.volume, "data", "log")); err != nil {
		t.Errorf("there is no log in the volume: %v", err)
	}
}

// TestImageTrustsIssuers: whoever is asked over TLS is judged by the certificates that
// the image has.
func TestImageTrustsIssuers(t *testing.T) {
	i := newImage(t)
	sealed := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	sealed.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshake that is to fail
	sealed.StartTLS()
	defer sealed.Close()
	well := append(slices.Clone(i.well), "--admin", sealed.URL)
	out, err := i.run(well).CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("unknown authority")) {
		t.Errorf("a stranger's certificate: %v, %s", err, out)
	}
	issuers, err := os.OpenFile(filepath.Join(i.root, "etc/ssl/certs/ca-certificates.crt"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer issuers.Close()
	if err := pem.Encode(issuers, &pem.Block{Type: "CERTIFICATE", Bytes: sealed.Certificate().Raw}); err != nil {
		t.Fatal(err)
	}
	if out, err := i.run(well).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestImageIsStatic: it needs no loader and no library, and knows its version.
func TestImageIsStatic(t *testing.T) {
	binary := filepath.Join(built(t), "image", "pingpost")
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program asks for a loader")
		}
	}
	if out, err := exec.Command(binary, "version").Output(); err != nil || string(out) != "pingpost of-a-test\n" {
		t.Errorf("%q, %v", out, err)
	}
}
