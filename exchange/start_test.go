package exchange

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// mustNotStart checks that an exchange does not start, and that the error contains the text.
func mustNotStart(t testing.TB, p testDir, want string) {
	t.Helper()
	x, err := Start(p.configPath(), Options{Env: env, Logger: p.logger()})
	if err == nil {
		err = x.Close()
		t.Fatalf("exchange started (Close: %v), want the error %q", err, want)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("got error %q, want %q", err, want)
	}
}

func TestSecondExchangeIsRefused(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	for range 5 {
		mustNotStart(t, x.testDir, "another process")
	}
	x.mustSell(leadBody(1))
	x.stop()
	start(t, x.testDir).mustSell(leadBody(2))
}

func TestStartNeedsWritableDataDir(t *testing.T) {
	t.Parallel()
	t.Run("a file instead of the folder", func(t *testing.T) {
		p := newTestDir(t, baseConfig)
		p.writeFile(t, "data", "")
		for range 20 { // no start waits for the admin address
			mustNotStart(t, p, "data_dir")
		}
		must.Succeed(t, os.Remove(p.dataDir()))
		start(t, p)
	})
	t.Run("a file instead of the log folder", func(t *testing.T) {
		p := newTestDir(t, baseConfig)
		must.Succeed(t, os.Mkdir(p.dataDir(), 0o700))
		p.writeFile(t, "data/log", "")
		mustNotStart(t, p, "log")
	})
	t.Run("read only", func(t *testing.T) {
		p := newTestDir(t, baseConfig)
		mount(t, p.dataDir(), "ro")
		mustNotStart(t, p, "cannot be written")
	})
}

func TestStartNeedsMatchingExchangeKey(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	first := x.mustSell(leadBody(1), "Idempotency-Key", "k")
	x.stop()
	path := filepath.Join(x.dataDir(), "keys", "exchange.key")
	text := must.Value(os.ReadFile(path))(t)
	for name, row := range map[string]struct{ text, err string }{
		"another key": {strings.Repeat("ab", 32), "does not belong to this log"},
		"half a key":  {string(text[:20]), "64 hexadecimal digits"},
		"empty file":  {"", "64 hexadecimal digits"},
	} {
		t.Run(name, func(t *testing.T) {
			must.Succeed(t, os.WriteFile(path, []byte(row.text), 0o600))
			mustNotStart(t, x.testDir, row.err)
		})
	}
	must.Succeed(t, os.Remove(path))
	mustNotStart(t, x.testDir, "missing")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("start created a new key for an old log")
	}
	must.Succeed(t, os.WriteFile(path, text, 0o600))
	x = start(t, x.testDir)
	x.ingest(leadBody(1), "Idempotency-Key", "k").mustBeReplayOf(t, first)
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	p := newTestDir(t, strings.Replace(baseConfig, "\nlisten: 127.0.0.1:0", "\nlisten: "+listener.Addr().String(), 1))
	mustNotStart(t, p, "another address in listen")
	p.writeConfig(t, strings.Replace(baseConfig, "admin: {listen: 127.0.0.1:0", "admin: {listen: "+listener.Addr().String(), 1))
	mustNotStart(t, p, "another address in admin.listen")
	if _, err := os.Stat(p.dataDir()); !os.IsNotExist(err) {
		t.Error("start created the folder before it bound the addresses")
	}
	p.writeConfig(t, baseConfig)
	start(t, p)
}

func TestStartNeedsValidConfiguration(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, baseConfig)
	mustNotStart(t, testDir{filepath.Join(p.dir, "nowhere"), p.logged}, "exchange.yaml")
	p.writeConfig(t, "campaigns: 7\n")
	mustNotStart(t, p, "exchange.yaml:1:")
}
