package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// trade makes a history of some steps and notes the hash at every position.
func trade(t *rapid.T) (w *trader, hashes map[uint64]uint64) {
	w, hashes = newTrader(t), make(map[uint64]uint64)
	for range rapid.IntRange(0, 40).Draw(t, "steps") {
		w.step()
		_, hashes[w.seq] = w.Hash()
	}
	return w, hashes
}

// sameAsThen compares a state with what the history was at its position.
func sameAsThen(t *rapid.T, what string, s *State, hashes map[uint64]uint64) {
	seq, hash := s.Hash()
	if then, ok := hashes[seq]; ok && then != hash {
		t.Fatalf("%s: at %d another state than it was", what, seq)
	}
}

// What was applied while serving, fact by fact as the engine made it, comes out
// of the log's bytes again.
func TestALogReplaysToTheStateThatWroteIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, hashes := trade(t)
		again := New()
		for seq := uint64(1); seq < w.seq; seq += 3 {
			replay(again, w.log, seq)
			sameAsThen(t, "replayed", again, hashes)
		}
		replay(again, w.log, w.seq)
		sameAsThen(t, "replayed", again, hashes)
		if again.FoundedEvent() != w.FoundedEvent() || again.CurrentConfigVersion() != w.CurrentConfigVersion() || again.LeadCount() != w.LeadCount() {
			t.Fatalf("replayed %+v %+v, %d leads", again.FoundedEvent(), again.CurrentConfigVersion(), again.LeadCount())
		}
	})
}

// goingOn is a file that a snapshot goes to while facts are applied.
type goingOn struct {
	bytes.Buffer
	writes int
	during map[int]func()
}

func (g *goingOn) Write(p []byte) (int, error) {
	if f := g.during[g.writes]; f != nil {
		f()
	}
	g.writes++
	return g.Buffer.Write(p)
}

// rowWrites is how many writes of a snapshot come until it is through the shards
// that histories have their rows in: two for each of a shard's sections.
const rowWrites = 3*2*sectionsPerShard + 8

// A snapshot is taken at any position while the log goes on between any two of
// its sections; what it says with the rest of the log is the same state, and so
// is a snapshot of that.
func TestASnapshotAndTheRestOfTheLogAreTheState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, hashes := trade(t)
		at := func(most uint64, what string) uint64 { return rapid.Uint64Range(0, most).Draw(t, what) }
		first := New()
		replay(first, w.log, at(w.seq, "position"))
		var busy RequestReservations // a request in flight; it is in no snapshot
		first.ReserveRotationTurn(&busy, 1, 99, []int32{1, 2})
		first.ClaimAllDuplicateKeys(&busy, []market.DuplicateKey{{250}}, monday)
		before, _ := first.Position()

		file := goingOn{during: map[int]func(){}}
		for range rapid.IntRange(0, 20).Draw(t, "facts meanwhile") {
			// After the header, the ledger is the first section; the histories' rows are in the first shards.
			file.during[rapid.IntRange(1, rowWrites).Draw(t, "write")] = func() {
				seq, _ := first.Position()
				replay(first, w.log, min(seq+1+at(2, "more"), w.seq))
			}
		}
		oldest, newest, err := first.WriteSnapshot(&file)
		if err != nil || oldest != before {
			t.Fatalf("oldest %d, at first %d: %v", oldest, before, err)
		}
		second := New()
		loaded, err := second.LoadSnapshot(bytes.NewReader(file.Bytes()))
		if position, _ := second.Position(); err != nil || loaded != newest || position != oldest {
			t.Fatalf("from %d to %d, loaded from %d to %d: %v", oldest, newest, position, loaded, err)
		}
		replay(second, w.log, newest)
		replay(first, w.log, newest)
		if second.ReservationCount() != 0 {
			t.Fatal("a reservation came with the snapshot")
		}
		for seq := newest; seq <= w.seq; seq += max(1, min(5, w.seq-seq)) {
			replay(first, w.log, seq)
			replay(second, w.log, seq)
			sameAsThen(t, "the first", first, hashes)
			sameAsThen(t, "from its snapshot", second, hashes)
		}
		third := New()
		file = goingOn{}
		if _, _, err := second.WriteSnapshot(&file); err != nil {
			t.Fatal(err)
		}
		if _, err := third.LoadSnapshot(&file); err != nil {
			t.Fatal(err)
		}
		sameAsThen(t, "from the second's snapshot", third, hashes)
		if err := sameOutboxes(w.State, third); err != nil {
			t.Fatal(err)
		}
		if file.Len() > 0 {
			t.Fatalf("%d bytes of the snapshot were not read", file.Len())
		}
	})
}

// owed is what suppliers are owed, in the order in which it is taken and given up.
func owed(s *State) (hooks []QueuedWebhook) {
	for _, b := range s.outboxes.all() {
		var taken []QueuedWebhook
		for {
			h, ok := s.ClaimDueWebhook(b.supplier, 1<<62)
			if !ok {
				break
			}
			taken = append(taken, h)
		}
		for _, h := range taken {
			s.UnclaimWebhook(h)
		}
		hooks = append(append(hooks, taken...), s.ListDeadLetters(b.supplier, 0, maxDeadLetters)...)
	}
	return hooks
}

// sameOutboxes compares what is owed after a restart with what was before.
func sameOutboxes(before, s *State) error {
	if got, want := owed(s), owed(before); !slices.Equal(got, want) {
		return fmt.Errorf("owed is %+v, before %+v", got, want)
	}
	for _, b := range s.outboxes.all() {
		if err := b.check(); err != nil {
			return err
		}
	}
	return nil
}

// The same with a long history, from every position, and several facts between
// any two writes.
func TestASnapshotOfABusyExchange(t *testing.T) {
	w := rich()
	_, right := w.Hash()
	for from := uint64(5); from < w.seq; from += 25 {
		for _, pace := range []uint64{1, 4, w.seq} { // with the last, every row is newer than the ledger
			first := New()
			replay(first, w.log, from)
			file := goingOn{during: map[int]func(){}}
			for write := range rowWrites {
				file.during[write+1] = func() {
					seq, _ := first.Position()
					replay(first, w.log, min(seq+pace, w.seq))
				}
			}
			if _, _, err := first.WriteSnapshot(&file); err != nil {
				t.Fatal(err)
			}
			second := New()
			if _, err := second.LoadSnapshot(&file); err != nil {
				t.Fatal(err)
			}
			replay(second, w.log, w.seq)
			if _, hash := second.Hash(); hash != right {
				t.Fatalf("from %d, %d at a time: another state", from, pace)
			}
			if err := sameOutboxes(w.State, second); err != nil {
				t.Fatalf("from %d, %d at a time: %v", from, pace, err)
			}
		}
	}
}

// failing is a file on a disk that is full after so many bytes.
type failing struct{ room int }

var errFull = errors.New("the disk is full")

func (f *failing) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestASnapshotThatCannotBeWrittenSaysSo(t *testing.T) {
	w := newWorld()
	var whole bytes.Buffer
	if _, _, err := w.WriteSnapshot(&whole); err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{0, 4, 5, 10, 100, 1000, whole.Len() - 1} {
		if _, _, err := w.WriteSnapshot(&failing{room}); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}

func snapshotOf(t testing.TB, w *world) []byte {
	var file bytes.Buffer
	if _, _, err := w.WriteSnapshot(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// rich is a world with something in every part of a snapshot.
func rich() *world {
	w := newWorld()
	dice := uint64(1)
	trader := trader{world: w, draw: func(n int) int {
		dice = dice*6364136223846793005 + 1442695040888963407
		return int(dice>>33) % n
	}}
	for range 900 {
		trader.step()
	}
	for _, door := range doors { // the trader has revoked all of its own
		w.fact(door)
	}
	return w
}

func TestASnapshotThatIsCutIsRefused(t *testing.T) {
	file := snapshotOf(t, rich())
	for _, n := range append([]int{0, 3, 4, 5, 6, 7, 8, 20, len(file) - 1}, 100, 1000, len(file)/2) {
		if _, err := New().LoadSnapshot(bytes.NewReader(file[:n])); err == nil {
			t.Errorf("%d of %d bytes are loaded", n, len(file))
		}
	}
}

// A flipped bit is the file's checksum's to find. Here it must not crash, and
// what is loaded in spite of it can be looked at.
func TestASnapshotWithAFlippedBitNeverPanics(t *testing.T) {
	file := snapshotOf(t, rich())
	_, right := func() (uint64, uint64) { s := New(); _, _ = s.LoadSnapshot(bytes.NewReader(file)); return s.Hash() }()
	refused, other := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		damaged := slices.Clone(file)
		at := rapid.IntRange(0, len(file)-1).Draw(t, "byte")
		if rapid.Bool().Draw(t, "at the front") {
			at %= 2000
		}
		damaged[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		s := New()
		if _, err := s.LoadSnapshot(bytes.NewReader(damaged)); err != nil {
			refused++
			return
		}
		if _, hash := s.Hash(); hash != right {
			other++
		}
		if _, _, err := s.WriteSnapshot(io.Discard); err != nil {
			t.Fatal(err)
		}
	})
	if refused == 0 || other == 0 {
		t.Errorf("%d were refused, %d were another state", refused, other)
	}
}

// In a snapshot of an earlier program, each part ends before the fields of later versions.
func TestSnapshotsOfEarlierPrograms(t *testing.T) {
	settings := newOperatorSettings()
	settings.lists[1] = SuppressionListFile{File: "f", Source: "s", Entries: 3}
	for name, part := range map[string]struct {
		snapshotFields func(*snapshotSectionCodec)
		added          map[byte]int // bytes that a version added at the end
	}{
		"post":  {new(UnfinishedPost).encodeOrDecodeSnapshot, map[byte]int{versionSealed: 1, versionTrusted: 1}},
		"lists": {settings.encodeOrDecodeSnapshot, map[byte]int{versionHistory: 3}},
		"all":   {New().encodeOrDecodeGlobalState, map[byte]int{versionSealed: 2, versionHistory: 1, versionUsers: 2}},
	} {
		var today snapshotSectionCodec
		part.snapshotFields(&today)
		for version := byte(oldestSnapshot); version <= snapshotVersion; version++ {
			later := 0
			for since, size := range part.added {
				if version < since {
					later += size
				}
			}
			for missing := range 6 {
				body := snapshotSectionCodec{decoding: true, buf: today.buf[:len(today.buf)-missing], version: version}
				part.snapshotFields(&body)
				if read := body.err == nil && len(body.buf) == 0; read != (missing == later) {
					t.Errorf("%s, version %d without the last %d bytes: %v, %d bytes are left", name, version, missing, body.err, len(body.buf))
				}
			}
		}
	}
}

func TestSnapshotsOfAnotherKindAreRefused(t *testing.T) {
	good := snapshotOf(t, newWorld())
	change := func(at int, b byte) []byte {
		file := slices.Clone(good)
		file[at] = b
		return file
	}
	ledger := 7 + 1 + 1 + 1 + 10 // the header, and a section's head up to about its length
	for what, file := range map[string][]byte{
		"something else":        []byte("not a snapshot at all"),
		"another magic":         change(0, 'Q'),
		"a newer version":       change(4, snapshotVersion+1),
		"another shard count":   change(5, 1),
		"a kind of the future":  change(7, 9),
		"a shard out of range":  append(append(slices.Clone(good[:7]), 1, 0xff, 0xff, 0x7f), good[ledger:]...),
		"a section twice":       append(slices.Clone(good[:7]), bytes.Repeat(good[7:], 2)...),
		"the ledger once again": withSectionTwice(good),
	} {
		s := New()
		if _, err := s.LoadSnapshot(bytes.NewReader(file)); err == nil && what != "a section twice" {
			t.Errorf("%s is loaded", what)
		}
	}
}

// withSectionTwice puts the first section, the ledger, in the place of the next
// but one too.
func withSectionTwice(file []byte) []byte {
	in := sectionReader{r: bytes.NewReader(file)}
	if err := in.readHeader(); err != nil {
		panic(err)
	}
	head := len(file) - in.r.(*bytes.Reader).Len()
	if err := in.nextSection(); err != nil {
		panic(err)
	}
	ledger := file[head : len(file)-in.r.(*bytes.Reader).Len()]
	return slices.Concat(file[:head], ledger, ledger, file[head+len(ledger):])
}

// Every fact that is not of a lead, and every use of an auction, leaves its mark on the hash.
func TestTheHashSeesEveryFact(t *testing.T) {
	for what, fact := range map[string]event.Event{
		"a founding's time":  &event.ExchangeFounded{Epoch: [16]byte{1}, KeyCheck: [16]byte{2}, At: 3},
		"a founding's epoch": &event.ExchangeFounded{Epoch: [16]byte{9}, KeyCheck: [16]byte{2}, At: monday},
		"a founding's key":   &event.ExchangeFounded{Epoch: [16]byte{1}, KeyCheck: [16]byte{9}, At: monday},
		"a catalog":          &event.ConfigActivated{Version: 1, Document: "d"},
		"an upload":          &event.SuppressionListReplaced{List: 1, Uploaded: true, By: "b"},
		"a name":             &event.ConfigNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectBuyer, Ref: 4, ID: "x"}}},
		"a cap":              &event.ConfigNumbersAssigned{Caps: []event.CapNumberAssignment{{Ref: 4}}},
		"a credential":       &event.CredentialAddedOrRevoked{Credential: 1, Owner: 1, OwnerRef: 1},
		"a revoked one":      &event.CredentialAddedOrRevoked{Credential: 1, Owner: 1, OwnerRef: 1, Revoked: true},
		"a secret":           &event.SecretStoredOrDeleted{Name: "x", Sealed: []byte{1}},
		"a door":             &event.PausedOrResumed{Target: event.ObjectBuyer, Ref: 1},
		"a list":             &event.SuppressionListReplaced{List: 1},
		"a user":             &event.UserAccountChanged{Name: "anna", Role: market.RoleViewer},
		"a user's token":     &event.APITokenAddedOrRevoked{User: "anna"},
		"a top-up":           &event.BuyerFundsAdjusted{Buyer: 1, Amount: 1},
		"an empty account":   &event.BuyerFundsAdjusted{Buyer: 3, Opening: true},
		"an auction":         held(monday + day),
		"a report's key":     &event.LeadStatusesChanged{Idempotency: event.RequestIdempotencyKey{Key: [16]byte{1}, ExpiresAt: monday + day}},
		"what is owed":       &event.LeadStatusesChanged{Changes: []event.LeadStatusChange{{Webhook: market.WebhookSold, Supplier: 1}}},
		"a return's month":   &event.LeadStatusesChanged{Changes: []event.LeadStatusChange{{Result: event.ChangePending, Return: event.ResourcesFreedByReturn{Month: 1}}}},
		"a failed attempt":   &event.WebhookAttempted{Supplier: 1, Outcome: event.WebhookFailed, At: monday},
		"hooks are off":      &event.SupplierWebhooksTurnedOnOrOff{Supplier: 1, Off: true},
		"an auction's key":   &event.PingAuctionCompleted{Idempotency: event.RequestIdempotencyKey{Key: [16]byte{1}, ExpiresAt: monday + day}},
	} {
		w := newWorld()
		_, before := w.Hash()
		w.fact(fact)
		_, after := w.Hash()
		if before == after {
			t.Errorf("%s: the hash is the same", what)
		}
	}
	w := newWorld()
	_, before := w.Hash()
	w.takeTurn(7, []int32{1, 2})
	if _, after := w.Hash(); before == after {
		t.Error("a turn: the hash is the same")
	}
	sold := func(sale event.Sale) uint64 {
		w := newWorld()
		w.fact(held(monday + day))
		w.fact(decided(sale, event.PostIntent{}, 0))
		_, hash := w.Hash()
		return hash
	}
	if sold(red) == sold(atItsBid(red)) {
		t.Error("an auction that is used up: the hash is the same")
	}
}

// A snapshot of an exchange that has not begun, while it begins.
func TestASnapshotOfNothingWhileSomethingBegins(t *testing.T) {
	w := newWorld()
	s := New()
	file := goingOn{during: map[int]func(){5: func() { replay(s, w.log, w.seq) }}}
	oldest, newest, err := s.WriteSnapshot(&file)
	if err != nil || oldest != 0 || newest != w.seq {
		t.Fatalf("from %d to %d: %v", oldest, newest, err)
	}
	again := New()
	if _, err := again.LoadSnapshot(&file); err != nil {
		t.Fatal(err)
	}
	if position, _ := again.Position(); position != 0 {
		t.Fatalf("the log would be replayed from after %d, the ledger knows nothing of it", position)
	}
	replay(again, w.log, w.seq)
	if _, hash := again.Hash(); hash != func() uint64 { _, h := w.Hash(); return h }() {
		t.Error("another state")
	}
	if again.RefOf(event.ObjectBuyer, "blue") != 3 {
		t.Error("the names are lost")
	}
}

// A length that is damaged asks for a gigabyte that the file does not have.
func TestADamagedLengthCostsNoMemory(t *testing.T) {
	head := append([]byte(snapshotMagic), snapshotVersion)
	head = binary.AppendUvarint(head, shardCount)
	head = append(head, sectionGlobal, 0, 1, 0)
	head = binary.LittleEndian.AppendUint32(head, maxSection)
	in := sectionReader{r: bytes.NewReader(head)}
	if err := in.readHeader(); err != nil {
		t.Fatal(err)
	}
	if err := in.nextSection(); err == nil || cap(in.body) > 2<<20 {
		t.Errorf("%d bytes for a file of %d: %v", cap(in.body), len(head), err)
	}
}
