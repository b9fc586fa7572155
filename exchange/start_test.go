package exchange

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// refuses sees that an exchange does not start, says why, and leaves nothing
// behind: neither addresses nor the folder's lock.
func refuses(t testing.TB, p place, why string) {
	t.Helper()
	x, err := Start(p.config(), Options{Env: env, Logger: logger})
	if err == nil {
		err = x.Close()
		t.Fatalf("it started (and stopped: %v), though %s", err, why)
	}
	if !strings.Contains(err.Error(), why) {
		t.Errorf("said %q, want %q in it", err, why)
	}
}

func TestSecondExchangeIsRefused(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	for range 5 {
		refuses(t, x.place, "another process")
	}
	x.sold(lead(1))
	x.stop()
	start(t, x.place).sold(lead(2))
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	t.Run("a file in the way", func(t *testing.T) {
		p := newPlace(t, recorded)
		p.beside(t, "data", "")
		for range 20 { // nothing here waits for the admin address to begin
			refuses(t, p, "data_dir")
		}
		must.Succeed(t, os.Remove(p.data()))
		start(t, p)
	})
	t.Run("a file in the log's way", func(t *testing.T) {
		p := newPlace(t, recorded)
		must.Succeed(t, os.Mkdir(p.data(), 0o700))
		p.beside(t, "data/log", "")
		refuses(t, p, "log")
	})
	t.Run("read only", func(t *testing.T) {
		p := newPlace(t, recorded)
		mount(t, p.data(), "ro")
		refuses(t, p, "cannot be written")
	})
}

func TestKeyFile(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	first := x.sold(lead(1), "Idempotency-Key", "k")
	x.stop()
	path := filepath.Join(x.data(), "keys", "exchange.key")
	text := must.Value(os.ReadFile(path))(t)
	for name, row := range map[string]struct{ text, why string }{
		"another one": {strings.Repeat("ab", 32), "does not belong to this log"},
		"half of it":  {string(text[:20]), "64 hexadecimal digits"},
		"nothing":     {"", "64 hexadecimal digits"},
	} {
		t.Run(name, func(t *testing.T) {
			must.Succeed(t, os.WriteFile(path, []byte(row.text), 0o600))
			refuses(t, x.place, row.why)
		})
	}
	must.Succeed(t, os.Remove(path))
	refuses(t, x.place, "missing")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("a new key was made for an old log")
	}
	must.Succeed(t, os.WriteFile(path, text, 0o600))
	x = start(t, x.place)
	x.ingest(lead(1), "Idempotency-Key", "k").isReplayOf(t, first)
}

func TestPortInUse(t *testing.T) {
	taken := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	p := newPlace(t, strings.Replace(recorded, "\nlisten: 127.0.0.1:0", "\nlisten: "+taken.Addr().String(), 1))
	refuses(t, p, "another address in listen")
	p.write(t, strings.Replace(recorded, "admin: {listen: 127.0.0.1:0", "admin: {listen: "+taken.Addr().String(), 1))
	refuses(t, p, "another address in admin.listen")
	if _, err := os.Stat(p.data()); !os.IsNotExist(err) {
		t.Error("the folder was made before the addresses were had")
	}
	p.write(t, recorded)
	start(t, p)
}

func TestConfigurationThatCannotBeRead(t *testing.T) {
	p := newPlace(t, recorded)
	refuses(t, place{filepath.Join(p.dir, "nowhere")}, "exchange.yaml")
	p.write(t, "campaigns: 7\n")
	refuses(t, p, "exchange.yaml:1:")
}
