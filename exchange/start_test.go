package exchange

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		if err := os.Remove(p.data()); err != nil {
			t.Fatal(err)
		}
		start(t, p)
	})
	t.Run("a file in the log's way", func(t *testing.T) {
		p := newPlace(t, recorded)
		if err := os.Mkdir(p.data(), 0o700); err != nil {
			t.Fatal(err)
		}
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
	p := newPlace(t, recorded)
	x := start(t, p)
	first := x.sold(lead(1), "Idempotency-Key", "k")
	x.stop()
	path := filepath.Join(p.data(), "keys", "exchange.key")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ text, why string }{
		"another one": {strings.Repeat("ab", 32), "does not belong to this log"},
		"half of it":  {string(text[:20]), "64 hexadecimal digits"},
		"nothing":     {"", "64 hexadecimal digits"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
				t.Fatal(err)
			}
			refuses(t, p, row.why)
		})
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	refuses(t, p, "missing")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("a new key was made for an old log")
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	x = start(t, p)
	x.ingest(lead(1), "Idempotency-Key", "k").isReplayOf(t, first)
}

func TestPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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

// TestTenants: two exchanges in one process have nothing in common.
func TestTenants(t *testing.T) {
	a, b := start(t, newPlace(t, "tenant: a\n"+recorded)), start(t, newPlace(t, "tenant: b\n"+recorded))
	first := a.sold(lead(1), "Idempotency-Key", "k")
	second := b.sold(lead(1), "Idempotency-Key", "k")
	if first.body == second.body || second.header.Get("Idempotent-Replayed") != "" {
		t.Error("they share idempotency keys")
	}
	made := a.newKey("sup_acme", "")
	if b.opens(made) || !a.opens(made) {
		t.Error("they share credentials")
	}
	b.must(204, "POST", "/admin/v1/campaigns/cmp/pause", "")
	a.sold(lead(2))
	for _, x := range []*running{a, b} {
		want := map[*running]string{a: "} 2\n", b: "} 1\n"}[x]
		if m := request(t, "GET", "http://"+x.AdminAddress()+"/metrics", "").body; !strings.Contains(m, `pingpost_leads_total{status="ACCEPTED",reason=""`+want) {
			t.Error("they share metrics")
		}
	}
	a.stop()
	b.must(204, "POST", "/admin/v1/campaigns/cmp/resume", "")
	b.sold(lead(3))
}
