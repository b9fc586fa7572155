package exchange

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/keys/leadkeys"
	"pingpost/wal"
)

// The data directories of testdata/data were written by the releases that they are
// named for, and every later one opens them. One is added when what is written
// changes, by -write-data NAME; none is ever changed. A NAME that begins with operated
// is of an exchange that operators worked on, every other of a day of leads.
var writeData = flag.String("write-data", "", "write testdata/data/NAME.tar.gz by this program")

const (
	goldenData = "testdata/data"
	operated   = "operated"
)

// goldenDay is an exchange as it stands in the midst of a day: leads recorded,
// delivered, refused, duplicate, one whose delivery nobody knows the fate of, one that
// is still being tried; before a snapshot and after it.
func goldenDay(t *testing.T) *running {
	t.Helper()
	blue, once := newTaker(t), newTaker(t, says(500, ""), hangs)
	x := start(t, newPlace(t, head+acme+`buyers:
  - {id: buy_blue, endpoint: "`+blue.URL+`", auth: {bearer: "${BLUE_TOKEN}"}, funds: {balance: 1000}}
  - id: buy_once
    post_url: "`+once.URL+`"
    adapter: {post: {format: json, body: '{"id": {{lead_id}}, "phone": {{.phone}}}', answer: {accepted: ok, yes: [yes]}}}
  - {id: buy_recorded}
campaigns:
  - id: cmp
    method: waterfall
    unknown: keep
    buyers: [{buyer: buy_blue, price: 5, caps: [{per: total, count: 3}]}, {buyer: buy_recorded, price: 1}]
  - id: cmp_once
    method: waterfall
    duplicates: {window: 0s}
    buyers: [{buyer: buy_once, price: 2}]
`))
	for i := range 5 {
		x.sold(lead(i, "city", `"Zebulon Canary"`, "kept", `"a canary"`), "Idempotency-Key", fmt.Sprint("k", i))
	}
	x.ingest(lead(1))
	x.sold(lead(6, "flo_campaign_id", `"cmp_once"`))
	x.snapshot()
	x.sold(lead(7))
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		x.ingest(lead(8, "flo_campaign_id", `"cmp_once"`))
	}()
	t.Cleanup(func() { <-answered })
	eventually(t, "a post is under way", func() bool { return len(once.got()) == 2 })
	return x
}

// TestGoldenDataIsOpened: what every release has written is read, and comes to the
// same memory as it did there.
func TestGoldenDataIsOpened(t *testing.T) {
	if *writeData != "" {
		writeGoldenData(t, *writeData)
	}
	names := must.Value(filepath.Glob(filepath.Join(goldenData, "*.tar.gz")))(t)
	for _, release := range []string{"unsealed", "sealed", operated} {
		if !slices.Contains(names, filepath.Join(goldenData, release+".tar.gz")) {
			t.Errorf("%s is gone: %v", release, names)
		}
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".tar.gz"), func(t *testing.T) {
			p := unpacked(t, name)
			want := must.Value(os.ReadFile(filepath.Join(p.dir, "hash")))(t)
			if got := hashOf(t, p); got != string(want) {
				t.Errorf("the state's hash is %s, and was %s", got, want)
			}
			bare := unpacked(t, name)
			must.Succeed(t, os.RemoveAll(filepath.Join(bare.data(), "snapshot")))
			if got := hashOf(t, bare); got != string(want) {
				t.Errorf("replayed from its first entry the state's hash is %s, and was %s", got, want)
			}
			if strings.HasPrefix(filepath.Base(name), operated) {
				opensOperations(t, p)
				return
			}
			opensGoldenData(t, p)
		})
	}
}

// opensGoldenData serves it, and looks at what was left open.
func opensGoldenData(t *testing.T, p place) {
	t.Helper()
	r := accepting(t, p)
	var open listing
	eventually(t, "both deliveries that were open are unknown", func() bool {
		open = decode[listing](t, r.must(200, "GET", "/admin/v1/deliveries?state=unknown", ""))
		return open.Total == 2
	})
	told := r.must(200, "GET", "/admin/v1/explain/"+open.Deliveries[0].LeadID, "").body
	if !strings.Contains(told, `"settlement":"unknown"`) {
		t.Error(told)
	}
	if known, forgotten := r.whoIsKnown(); len(known) != 9 || len(forgotten) != 0 {
		t.Errorf("%d leads can be opened, of 9", len(known))
	}
	r.must(204, "POST", "/admin/v1/deliveries/"+open.Deliveries[0].LeadID+"/release", "")
	r.sold(lead(9))
	r.stop()
	accepting(t, p).stop()
}

func hashOf(t *testing.T, p place) string {
	t.Helper()
	seq, hash, err := StateHash(p.data(), 0)
	must.Succeed(t, err)
	return fmt.Sprintf("%d %016x\n", seq, hash)
}

// writeGoldenData packs a day, as a crash would leave it, under a new name.
func writeGoldenData(t *testing.T, name string) {
	t.Helper()
	written := goldenDay
	if strings.HasPrefix(name, operated) {
		written = goldenOperations
	}
	p := written(t).copy(t)
	thinOut(t, p)
	must.Succeed(t, os.WriteFile(filepath.Join(p.dir, "hash"), []byte(hashOf(t, p)), 0o600))
	var packed bytes.Buffer
	zip := must.Value(gzip.NewWriterLevel(&packed, gzip.BestCompression))(t)
	out := tar.NewWriter(zip)
	must.Succeed(t, errors.Join(out.AddFS(os.DirFS(p.dir)), out.Close(), zip.Close()))
	must.Succeed(t, os.MkdirAll(goldenData, 0o755))
	file := must.Value(os.OpenFile(filepath.Join(goldenData, name+".tar.gz"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644))(t)
	must.Value(file.Write(packed.Bytes()))(t)
	must.Succeed(t, file.Close())
}

// thinOut leaves few keys that nothing was sealed with: the others would be most of what
// is kept.
func thinOut(t *testing.T, p place) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.data(), "keys", "leads", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	keys := must.Value(os.ReadFile(files[0]))(t)
	clear(keys[200*leadkeys.KeySize:])
	must.Succeed(t, errors.Join(os.WriteFile(files[0], keys, 0o600), os.RemoveAll(filepath.Join(p.data(), "keys", "checksums"))))
}

// unpacked lays a packed folder out.
func unpacked(t *testing.T, path string) place {
	t.Helper()
	data := must.Value(os.ReadFile(path))(t)
	zip := must.Value(gzip.NewReader(bytes.NewReader(data)))(t)
	p := place{t.TempDir()}
	for in := tar.NewReader(zip); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return p
		}
		must.Succeed(t, err)
		at := filepath.Join(p.dir, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			must.Succeed(t, os.MkdirAll(at, 0o700))
			continue
		}
		text := must.Value(io.ReadAll(in))(t)
		must.Succeed(t, errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, text, 0o600)))
	}
}

// TestGoldenDataHasEveryFact: each kind of fact stands in golden data, and of those that
// operators make each field does. Whoever adds one writes data with it.
func TestGoldenDataHasEveryFact(t *testing.T) {
	names := must.Value(filepath.Glob(filepath.Join(goldenData, "*.tar.gz")))(t)
	seen := map[event.Kind]map[string]bool{}
	for _, name := range names {
		forEachFact(t, unpacked(t, name).data(), func(_ wal.Entry, fact event.Event) {
			if seen[fact.Kind()] == nil {
				seen[fact.Kind()] = map[string]bool{}
			}
			for v, i := reflect.ValueOf(fact).Elem(), 0; i < v.NumField(); i++ {
				seen[fact.Kind()][v.Type().Field(i).Name] = seen[fact.Kind()][v.Type().Field(i).Name] || !v.Field(i).IsZero()
			}
		})
	}
	operators := []event.Kind{event.KindConfigActivated, event.KindPausedOrResumed, event.KindSuppressionListReplaced, event.KindUserAccountChanged, event.KindAPITokenAddedOrRevoked}
	for kind := event.Kind(1); !strings.HasPrefix(kind.String(), "kind_"); kind++ {
		if seen[kind] == nil {
			t.Errorf("no golden data has a fact %s: write some, by -write-data", kind)
		}
		for field, there := range seen[kind] {
			if !there && slices.Contains(operators, kind) {
				t.Errorf("no golden data has a fact %s with a %s: write some, by -write-data", kind, field)
			}
		}
	}
}
