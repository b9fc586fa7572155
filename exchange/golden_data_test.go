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
	"sync"
	"testing"

	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/keys/leadkeys"
	"pingpost/wal"
)

// Each data directory in testdata/data is from the release in its name, and all later releases must
// open it. A change of the written data adds one with -write-data NAME; existing ones never change.
// A NAME that begins with operated has operators' actions, any other a day of leads.
var writeData = flag.String("write-data", "", "write testdata/data/NAME.tar.gz by this program")

const (
	goldenData     = "testdata/data"
	operatedPrefix = "operated"
)

// startGoldenDay starts an exchange with leads of all kinds, before and after a snapshot: recorded,
// delivered, refused, duplicate, of unknown delivery, and in delivery.
func startGoldenDay(t *testing.T) *testExchange {
	t.Helper()
	ended := make(chan struct{})
	blue, unrepeatable := newFakeBuyer(t), newFakeBuyer(t, reply(500, ""), hangUntil(ended))
	x := start(t, newTestDir(t, configHead+configSuppliers+`buyers:
  - {id: buy_blue, endpoint: "`+blue.URL+`", auth: {bearer: "${BLUE_TOKEN}"}, funds: {balance: 1000}}
  - id: buy_once
    post_url: "`+unrepeatable.URL+`"
    post_timeout: 5m
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
		x.mustSell(leadBody(i, "city", `"Zebulon Canary"`, "kept", `"a canary"`), "Idempotency-Key", fmt.Sprint("k", i))
	}
	x.ingest(leadBody(1))
	x.mustSell(leadBody(6, "flo_campaign_id", `"cmp_once"`))
	x.mustSnapshot()
	x.mustSell(leadBody(7))
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		x.ingest(leadBody(8, "flo_campaign_id", `"cmp_once"`))
	}()
	t.Cleanup(func() { <-answered })
	eventually(t, "a post is in progress", func() bool { return len(unrepeatable.received()) == 2 })
	x.endPost = sync.OnceFunc(func() { close(ended) })
	t.Cleanup(x.endPost)
	return x
}

// TestGoldenDataOpensWithSameState: the program reads the data of each earlier release, and replays
// it to the same state.
func TestGoldenDataOpensWithSameState(t *testing.T) {
	t.Parallel()
	if *writeData != "" {
		writeGoldenData(t, *writeData)
	}
	names := must.Value(filepath.Glob(filepath.Join(goldenData, "*.tar.gz")))(t)
	for _, release := range []string{"unsealed", "sealed", operatedPrefix} {
		if !slices.Contains(names, filepath.Join(goldenData, release+".tar.gz")) {
			t.Errorf("golden data %s is missing: %v", release, names)
		}
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".tar.gz"), func(t *testing.T) {
			p := unpackData(t, name)
			bare := p.copyFiles(t)
			want := must.Value(os.ReadFile(filepath.Join(p.dir, "hash")))(t)
			if got := replayedStateHash(t, p); got != string(want) {
				t.Errorf("state hash is %s, want %s", got, want)
			}
			must.Succeed(t, os.RemoveAll(filepath.Join(bare.dataDir(), "snapshot")))
			if got := replayedStateHash(t, bare); got != string(want) {
				t.Errorf("replay without a snapshot: state hash is %s, want %s", got, want)
			}
			if strings.HasPrefix(filepath.Base(name), operatedPrefix) {
				checkGoldenOperations(t, p)
				return
			}
			checkGoldenDay(t, p)
		})
	}
}

// checkGoldenDay starts an exchange on the data and checks its open deliveries.
func checkGoldenDay(t *testing.T, p testDir) {
	t.Helper()
	r := startAcceptingClock(t, p)
	var open deliveryList
	eventually(t, "both open deliveries are unknown", func() bool {
		open = decode[deliveryList](t, r.mustAdmin(200, "GET", "/admin/v1/deliveries?state=unknown", ""))
		return open.Total == 2
	})
	explanation := r.mustAdmin(200, "GET", "/admin/v1/explain/"+open.Deliveries[0].LeadID, "").body
	if !strings.Contains(explanation, `"settlement":"unknown"`) {
		t.Errorf("explanation has no unknown settlement: %s", explanation)
	}
	if decryptable, erased := r.decryptableLeads(); len(decryptable) != 9 || len(erased) != 0 {
		t.Errorf("got %d decryptable and %d erased leads, want 9 and 0", len(decryptable), len(erased))
	}
	r.mustAdmin(204, "POST", "/admin/v1/deliveries/"+open.Deliveries[0].LeadID+"/release", "")
	r.mustSell(leadBody(9))
	r.stop()
	startAcceptingClock(t, p).stop()
}

func replayedStateHash(t *testing.T, p testDir) string {
	t.Helper()
	seq, hash, err := StateHash(p.dataDir(), 0)
	must.Succeed(t, err)
	return fmt.Sprintf("%d %016x\n", seq, hash)
}

// writeGoldenData packs the files of a running exchange under a new name.
func writeGoldenData(t *testing.T, name string) {
	t.Helper()
	startGolden := startGoldenDay
	if strings.HasPrefix(name, operatedPrefix) {
		startGolden = startGoldenOperations
	}
	p := startGolden(t).copyFiles(t)
	clearUnusedLeadKeys(t, p)
	must.Succeed(t, os.WriteFile(filepath.Join(p.dir, "hash"), []byte(replayedStateHash(t, p)), 0o600))
	var packed bytes.Buffer
	zip := must.Value(gzip.NewWriterLevel(&packed, gzip.BestCompression))(t)
	out := tar.NewWriter(zip)
	must.Succeed(t, errors.Join(out.AddFS(os.DirFS(p.dir)), out.Close(), zip.Close()))
	must.Succeed(t, os.MkdirAll(goldenData, 0o755))
	file := must.Value(os.OpenFile(filepath.Join(goldenData, name+".tar.gz"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644))(t)
	must.Value(file.Write(packed.Bytes()))(t)
	must.Succeed(t, file.Close())
}

// clearUnusedLeadKeys clears most of the unused lead keys, because they do not compress.
func clearUnusedLeadKeys(t *testing.T, p testDir) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.dataDir(), "keys", "leads", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("want one key file, got %v, %v", files, err)
	}
	keys := must.Value(os.ReadFile(files[0]))(t)
	clear(keys[200*leadkeys.KeySize:])
	must.Succeed(t, errors.Join(os.WriteFile(files[0], keys, 0o600), os.RemoveAll(filepath.Join(p.dataDir(), "keys", "checksums"))))
}

// unpackData unpacks an archive into a new folder.
func unpackData(t *testing.T, path string) testDir {
	t.Helper()
	data := must.Value(os.ReadFile(path))(t)
	zip := must.Value(gzip.NewReader(bytes.NewReader(data)))(t)
	p := newTestDirWithoutConfig(t)
	for in := tar.NewReader(zip); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return p
		}
		must.Succeed(t, err)
		target := filepath.Join(p.dir, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			must.Succeed(t, os.MkdirAll(target, 0o700))
			continue
		}
		text := must.Value(io.ReadAll(in))(t)
		must.Succeed(t, errors.Join(os.MkdirAll(filepath.Dir(target), 0o700), os.WriteFile(target, text, 0o600)))
	}
}

// TestGoldenDataHasEveryEventKind: golden data has events of each kind, and each field of
// operators' events. A change that adds one also adds golden data.
func TestGoldenDataHasEveryEventKind(t *testing.T) {
	t.Parallel()
	names := must.Value(filepath.Glob(filepath.Join(goldenData, "*.tar.gz")))(t)
	seen := map[event.Kind]map[string]bool{}
	for _, name := range names {
		forEachLogEntry(t, unpackData(t, name).dataDir(), func(_ wal.Entry, ev event.Event) {
			if seen[ev.Kind()] == nil {
				seen[ev.Kind()] = map[string]bool{}
			}
			for v, i := reflect.ValueOf(ev).Elem(), 0; i < v.NumField(); i++ {
				seen[ev.Kind()][v.Type().Field(i).Name] = seen[ev.Kind()][v.Type().Field(i).Name] || !v.Field(i).IsZero()
			}
		})
	}
	operators := []event.Kind{event.KindConfigActivated, event.KindPausedOrResumed, event.KindSuppressionListContentLoaded, event.KindUserAccountChanged, event.KindAPITokenAddedOrRevoked, event.KindInvitationChanged, event.KindUserSecondFactorChangedOrUsed, event.KindSavedReportChanged, event.KindReportMailEnded}
	for kind := event.Kind(1); kind <= event.KindReportMailEnded; kind++ {
		if strings.HasPrefix(kind.String(), "kind_") {
			continue // another release's
		}
		if seen[kind] == nil {
			t.Errorf("no golden data has an event %s: write some with -write-data", kind)
		}
		for field, isSet := range seen[kind] {
			if !isSet && slices.Contains(operators, kind) {
				t.Errorf("no golden data has an event %s with the field %s: write some with -write-data", kind, field)
			}
		}
	}
}
