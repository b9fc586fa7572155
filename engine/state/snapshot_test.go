package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// randomHistory applies random events and returns the hash of the state after each step, by log
// position.
func randomHistory(t *rapid.T) (x *eventGenerator, hashes map[uint64]uint64) {
	x, hashes = newEventGenerator(t), make(map[uint64]uint64)
	for range rapid.IntRange(0, 40).Draw(t, "steps") {
		x.step()
		_, hashes[x.seq] = x.Hash()
	}
	return x, hashes
}

// checkHash compares the hash of a state with the recorded one of its position.
func checkHash(t *rapid.T, what string, s *State, hashes map[uint64]uint64) {
	seq, hash := s.Hash()
	if then, ok := hashes[seq]; ok && then != hash {
		t.Fatalf("%s: the hash at position %d differs from the recorded one", what, seq)
	}
}

// Live operation applies the engine's events; replay applies the events decoded from the log.
// Both give the same state.
func TestReplayRestoresLiveState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, hashes := randomHistory(t)
		restored := New()
		for seq := uint64(1); seq < x.seq; seq += 3 {
			replay(restored, x.log, seq)
			checkHash(t, "replayed", restored, hashes)
		}
		replay(restored, x.log, x.seq)
		checkHash(t, "replayed", restored, hashes)
		if restored.FoundedEvent() != x.FoundedEvent() || restored.CurrentConfigVersion() != x.CurrentConfigVersion() || restored.LeadCountWithExpired() != x.LeadCountWithExpired() {
			t.Fatalf("after replay: founded %+v, configuration %+v, %d leads", restored.FoundedEvent(), restored.CurrentConfigVersion(), restored.LeadCountWithExpired())
		}
	})
}

// snapshotWriter runs functions between the writes of a snapshot.
type snapshotWriter struct {
	bytes.Buffer
	writes      int
	beforeWrite map[int]func()
}

func (g *snapshotWriter) Write(p []byte) (int, error) {
	if f := g.beforeWrite[g.writes]; f != nil {
		f()
	}
	g.writes++
	return g.Buffer.Write(p)
}

// rowWrites is the number of writes after which a snapshot has all shards with rows here: two
// for each section of a shard.
const rowWrites = 3*2*sectionsPerShard + 8

// A snapshot starts at any position, and events are applied between its writes. The snapshot and
// the log after it restore the same state, and so does a snapshot of the restored state.
func TestSnapshotAndLaterLogRestoreState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, hashes := randomHistory(t)
		at := func(most uint64, what string) uint64 { return rapid.Uint64Range(0, most).Draw(t, what) }
		first := New()
		replay(first, x.log, at(x.seq, "position"))
		var busy RequestReservations // a request in flight; it is in no snapshot
		first.ReserveRotationTurn(&busy, 1, 99, []int32{1, 2})
		first.mustClaimDuplicateKeys(&busy, []market.DuplicateKey{{250}}, monday)
		before, _ := first.Position()

		file := snapshotWriter{beforeWrite: map[int]func(){}}
		for range rapid.IntRange(0, 20).Draw(t, "events meanwhile") {
			// The global section follows the header; the rows are in the first shards.
			file.beforeWrite[rapid.IntRange(1, rowWrites).Draw(t, "write")] = func() {
				seq, _ := first.Position()
				replay(first, x.log, min(seq+1+at(2, "more"), x.seq))
			}
		}
		oldest, newest, err := first.WriteSnapshot(&file, nil)
		if err != nil || oldest != before {
			t.Fatalf("oldest position %d, want %d: %v", oldest, before, err)
		}
		second := New()
		loaded, err := second.LoadSnapshot(bytes.NewReader(file.Bytes()))
		if position, _ := second.Position(); err != nil || loaded != newest || position != oldest {
			t.Fatalf("wrote positions %d to %d, loaded %d to %d: %v", oldest, newest, position, loaded, err)
		}
		replay(second, x.log, newest)
		replay(first, x.log, newest)
		if second.ReservationCount() != 0 {
			t.Fatal("the snapshot contains a reservation")
		}
		for seq := newest; seq <= x.seq; seq += max(1, min(5, x.seq-seq)) {
			replay(first, x.log, seq)
			replay(second, x.log, seq)
			checkHash(t, "live", first, hashes)
			checkHash(t, "restored from the snapshot", second, hashes)
		}
		third := New()
		file = snapshotWriter{}
		if _, _, err := second.WriteSnapshot(&file, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := third.LoadSnapshot(&file); err != nil {
			t.Fatal(err)
		}
		checkHash(t, "restored from the second snapshot", third, hashes)
		if err := compareOutboxes(x.State, third); err != nil {
			t.Fatal(err)
		}
		if file.Len() > 0 {
			t.Fatalf("%d bytes of the snapshot were not read", file.Len())
		}
	})
}

// listWebhooks returns the webhooks of all suppliers: first the pending ones in the order of
// their due times, then the dead letters.
func listWebhooks(s *State) (webhooks []OutboxWebhook) {
	for _, b := range s.outboxes.all() {
		var claimed []OutboxWebhook
		for {
			h, ok := s.ClaimDueWebhook(b.supplier, 1<<62)
			if !ok {
				break
			}
			claimed = append(claimed, h)
		}
		for _, h := range claimed {
			s.UnclaimWebhook(h)
		}
		webhooks = append(append(webhooks, claimed...), s.ListDeadLetters(b.supplier, 0, maxDeadLetters)...)
	}
	return webhooks
}

// compareOutboxes returns an error if the outboxes after a restart differ from those before it.
func compareOutboxes(before, s *State) error {
	if got, want := listWebhooks(s), listWebhooks(before); !slices.Equal(got, want) {
		return fmt.Errorf("webhooks %+v, want %+v", got, want)
	}
	for _, b := range s.outboxes.all() {
		if err := b.check(); err != nil {
			return err
		}
	}
	return nil
}

// A snapshot of a long history starts at many positions, with several events between any two
// writes.
func TestSnapshotOfBusyExchange(t *testing.T) {
	x := newBusyExchange()
	_, wantHash := x.Hash()
	step := uint64(25)
	if testing.Short() {
		step = 125
	}
	for from := uint64(5); from < x.seq; from += step {
		for _, pace := range []uint64{1, 4, x.seq} { // with the last, every row is newer than the global section
			first := New()
			replay(first, x.log, from)
			file := snapshotWriter{beforeWrite: map[int]func(){}}
			for write := range rowWrites {
				file.beforeWrite[write+1] = func() {
					seq, _ := first.Position()
					replay(first, x.log, min(seq+pace, x.seq))
				}
			}
			if _, _, err := first.WriteSnapshot(&file, nil); err != nil {
				t.Fatal(err)
			}
			second := New()
			if _, err := second.LoadSnapshot(&file); err != nil {
				t.Fatal(err)
			}
			replay(second, x.log, x.seq)
			if _, hash := second.Hash(); hash != wantHash {
				t.Fatalf("snapshot at %d, %d events per write: the state differs", from, pace)
			}
			if err := compareOutboxes(x.State, second); err != nil {
				t.Fatalf("snapshot at %d, %d events per write: %v", from, pace, err)
			}
		}
	}
}

// fullDisk fails all writes after the first free bytes.
type fullDisk struct{ free int }

var errDiskFull = errors.New("the disk is full")

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.free -= len(p); f.free < 0 {
		return 0, errDiskFull
	}
	return len(p), nil
}

func TestWriteSnapshotReturnsWriteError(t *testing.T) {
	x := newTestExchange()
	var whole bytes.Buffer
	if _, _, err := x.WriteSnapshot(&whole, nil); err != nil {
		t.Fatal(err)
	}
	for _, free := range []int{0, 4, 5, 10, 100, 1000, whole.Len() - 1} {
		if _, _, err := x.WriteSnapshot(&fullDisk{free}, nil); !errors.Is(err, errDiskFull) {
			t.Errorf("disk with %d free bytes: got error %v, want %v", free, err, errDiskFull)
		}
	}
}

func snapshotOf(t testing.TB, x *testExchange) []byte {
	var file bytes.Buffer
	if _, _, err := x.WriteSnapshot(&file, nil); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// newBusyExchange returns an exchange with data in every part of a snapshot.
func newBusyExchange() *testExchange {
	x := newTestExchange()
	random := uint64(1)
	generator := eventGenerator{testExchange: x, claims: make(map[market.LeadID]*RequestReservations), draw: func(n int) int {
		random = random*6364136223846793005 + 1442695040888963407
		return int(random>>33) % n
	}}
	for range 900 {
		generator.step()
	}
	for _, credential := range credentialEvents { // the generator has revoked all of its own
		x.logAndApply(credential)
	}
	return x
}

func TestTruncatedSnapshotIsRejected(t *testing.T) {
	file := snapshotOf(t, newBusyExchange())
	for _, n := range append([]int{0, 3, 4, 5, 6, 7, 8, 20, len(file) - 1}, 100, 1000, len(file)/2) {
		if _, err := New().LoadSnapshot(bytes.NewReader(file[:n])); err == nil {
			t.Errorf("the first %d of %d bytes were accepted", n, len(file))
		}
	}
}

// The file's checksum finds flipped bits. LoadSnapshot itself must not panic, and a state that
// it returns must be readable.
func TestFlippedBitInSnapshotNeverPanics(t *testing.T) {
	file := snapshotOf(t, newBusyExchange())
	_, wantHash := func() (uint64, uint64) { s := New(); _, _ = s.LoadSnapshot(bytes.NewReader(file)); return s.Hash() }()
	rejected, different := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		damaged := slices.Clone(file)
		at := rapid.IntRange(0, len(file)-1).Draw(t, "byte")
		if rapid.Bool().Draw(t, "at the front") {
			at %= 2000
		}
		damaged[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		s := New()
		if _, err := s.LoadSnapshot(bytes.NewReader(damaged)); err != nil {
			rejected++
			return
		}
		if _, hash := s.Hash(); hash != wantHash {
			different++
		}
		if _, _, err := s.WriteSnapshot(io.Discard, nil); err != nil {
			t.Fatal(err)
		}
	})
	if rejected == 0 || different == 0 {
		t.Errorf("%d snapshots were rejected and %d gave a different state, want both above 0", rejected, different)
	}
}

// encodeOrDecodeGlobalState returns a function that encodes the global state of s, or decodes it.
func encodeOrDecodeGlobalState(s *State) func(*snapshotSectionCodec) {
	return func(c *snapshotSectionCodec) {
		if c.decoding {
			s.decodeGlobalState(c)
		} else {
			s.copyGlobalStateWhileApplyIsBlocked(c)()
		}
	}
}

// wholeBody returns the encoded body of a section.
func wholeBody(c *snapshotSectionCodec) []byte { return slices.Concat(append(c.pieces, c.buf)...) }

// decodeGlobalSection returns a state that has only the encoded global state.
func decodeGlobalSection(t rapid.TB, encoded []byte) *State {
	s, body := New(), snapshotSectionCodec{decoding: true, buf: encoded, version: snapshotVersion}
	if s.decodeGlobalState(&body); body.err != nil || len(body.buf) > 0 {
		t.Fatalf("the global section is damaged: %d bytes left, %v", len(body.buf), body.err)
	}
	return s
}

// hashOfSection returns the hash of the parts of an encoded global section that are encoded while
// events of all kinds are applied.
func hashOfSection(t *rapid.T, encoded []byte) uint64 {
	s := decodeGlobalSection(t, encoded)
	return s.names.sumOfEntryHashes() + s.caps.sumOfEntryHashes() + s.accounts.sumOfEntryHashes() + s.monthlySales.sumOfEntryHashes() +
		s.pendingReturns.sumOfEntryHashes() + s.rotations.sumOfEntryHashes() + s.slots.sumOfEntryHashes()
}

// Apply continues while the global section is encoded. The section has the state from when it began.
func TestGlobalSectionHasStateFromItsBeginning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newEventGenerator(t)
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			x.step()
		}
		for range 3 { // several snapshots of one state
			var atOnce, later snapshotSectionCodec
			x.copyGlobalStateWhileApplyIsBlocked(&atOnce)()
			encodeLater := x.copyGlobalStateWhileApplyIsBlocked(&later)
			x.configuring.Unlock() // as after the settings
			for range rapid.IntRange(0, 20).Draw(t, "steps meanwhile") {
				x.step()
			}
			x.configuring.Lock()
			encodeLater()
			if hashOfSection(t, wholeBody(&later)) != hashOfSection(t, wholeBody(&atOnce)) {
				t.Fatal("events after the beginning of the section have changed it")
			}
		}
	})
}

// An event that changes settings waits until the global section has them.
func TestSettingsChangeAfterGlobalSectionHasThem(t *testing.T) {
	x := newTestExchange()
	var body snapshotSectionCodec
	encodeLater := x.copyGlobalStateWhileApplyIsBlocked(&body)
	applied := make(chan struct{})
	go func() {
		x.logAndApply(&event.CampaignOrBuyerPausedOrResumed{Target: event.ObjectBuyer, Ref: 1, Paused: true})
		close(applied)
	}()
	select {
	case <-applied:
	case <-time.After(20 * time.Millisecond):
	}
	encodeLater()
	<-applied
	if paused, _ := decodeGlobalSection(t, wholeBody(&body)).PauseStatus(event.ObjectBuyer, 1); paused {
		t.Error("the section has the event after its beginning")
	}
	if paused, _ := x.PauseStatus(event.ObjectBuyer, 1); !paused {
		t.Error("the event was not applied")
	}
}

// A start removes old months when the first lead of a new month arrives, so it needs the latest month of
// the section's beginning.
func TestGlobalSectionHasLatestMonthFromItsBeginning(t *testing.T) {
	x := newTestExchange()
	x.monthlySales.countSale(1, 1, monday)
	var body snapshotSectionCodec
	encodeLater := x.copyGlobalStateWhileApplyIsBlocked(&body)
	x.monthlySales.countSale(1, 1, monday+40*day)
	encodeLater()
	if got, want := decodeGlobalSection(t, wholeBody(&body)).monthlySales.latest, market.StartOfUTCMonth(monday); got != want {
		t.Errorf("the latest month begins at %d, want %d", got, want)
	}
}

// A rotation that events drop while the global section is encoded is in the section.
func TestGlobalSectionHasRotationDroppedMeanwhile(t *testing.T) {
	for what, reserved := range map[string]bool{"the oldest is dropped": false, "the oldest has a reserved turn": true} {
		x := newTestExchange()
		turn := func(set uint64) {
			x.seq++
			x.rotations.countTurnAndEndReservation(1, event.RotationTurn{Set: set}, x.seq)
		}
		for set := range uint64(maxRotations) {
			turn(set + 1)
		}
		if reserved {
			x.ReserveRotationTurn(new(RequestReservations), 1, 1, []int32{1})
		}
		want := x.rotations.sumOfEntryHashes()
		var body snapshotSectionCodec
		encodeLater := x.copyGlobalStateWhileApplyIsBlocked(&body)
		turn(maxRotations + 1)
		encodeLater()
		if got := decodeGlobalSection(t, wholeBody(&body)).rotations.sumOfEntryHashes(); got != want {
			t.Errorf("%s: the section differs from the rotations at its beginning", what)
		}
	}
}

// A long section consists of several pieces in memory.
func TestSnapshotWithLongGlobalSection(t *testing.T) {
	x := newTestExchange()
	for ref := x.CountPermanentNumbers(event.ObjectBuyer) + 1; ref < 3*pieceBytes/20; ref++ {
		x.names.add(event.ObjectBuyer, market.PermanentNumber(ref), fmt.Sprintf("buyer-%014d", ref))
	}
	loaded := New()
	if _, err := loaded.LoadSnapshot(bytes.NewReader(snapshotOf(t, x))); err != nil {
		t.Fatal(err)
	}
	_, want := x.Hash()
	if _, got := loaded.Hash(); got != want {
		t.Error("the loaded state differs")
	}
}

// Entries change between the steps in which a snapshot copies them, and are added and removed.
func TestTableChangesBetweenStepsOfSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := monthlySaleCounts{byKey: make(map[monthlyCountKey]*monthlyCount)}
		months := rapid.Int64Range(0, 30)
		change := func() {
			key := monthlyCountKey{market.PermanentNumber(rapid.IntRange(1, 40).Draw(t, "campaign")), 1, monday + months.Draw(t, "month")*31*day}
			m.getOrCreateCountLocked(key).sold += 3
		}
		for range rapid.IntRange(0, 80).Draw(t, "counts") {
			change()
		}
		want := make(map[monthlyCountKey]int64)
		for key, count := range m.byKey {
			want[key] = count.sold
		}
		m.beginSnapshot()
		got := make(map[monthlyCountKey]int64)
		var body snapshotSectionCodec
		encodeOrDecodeCopies(&body, &m.mu, 3, m.byKey, &m.copies, m.copyLocked, func(key *monthlyCountKey, count *monthlyCount) {
			if _, twice := got[*key]; twice {
				t.Fatalf("%+v is twice in the snapshot", *key)
			}
			got[*key] = count.sold
			if rapid.Bool().Draw(t, "change") {
				m.mu.Lock()
				defer m.mu.Unlock()
				change()
			}
		})
		if !maps.Equal(got, want) {
			t.Fatalf("the snapshot has %v, want %v", got, want)
		}
	})
}

// In a snapshot of an earlier version, each part ends before the fields of later versions.
func TestSnapshotsOfEarlierVersionsLoad(t *testing.T) {
	settings := newSettingsOutsideConfig()
	settings.lists[1] = SuppressionListFile{File: "f", Source: "s", Entries: 3}
	for name, part := range map[string]struct {
		snapshotFields func(*snapshotSectionCodec)
		added          map[byte]int // bytes that a version added at the end
	}{
		"post":  {new(UnfinishedPost).encodeOrDecodeSnapshot, map[byte]int{versionSealed: 1, versionTrusted: 1}},
		"lists": {settings.encodeOrDecodeSnapshot, map[byte]int{versionHistory: 3}},
		"all":   {encodeOrDecodeGlobalState(New()), map[byte]int{versionSealed: 2, versionHistory: 1, versionUsers: 2, versionTeam: 2, versionAlerts: 1, versionReports: 1, versionEntries: 1}},
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
			for missing := range 9 {
				body := snapshotSectionCodec{decoding: true, buf: today.buf[:len(today.buf)-missing], version: version}
				part.snapshotFields(&body)
				if read := body.err == nil && len(body.buf) == 0; read != (missing == later) {
					t.Errorf("%s, version %d without the last %d bytes: error %v, %d bytes left", name, version, missing, body.err, len(body.buf))
				}
			}
		}
	}
}

func TestMalformedSnapshotsAreRejected(t *testing.T) {
	good := snapshotOf(t, newTestExchange())
	change := func(at int, b byte) []byte {
		file := slices.Clone(good)
		file[at] = b
		return file
	}
	global := 7 + 1 + 1 + 1 + 10 // the header, and a section's head up to about its length
	for what, file := range map[string][]byte{
		"no snapshot":          []byte("not a snapshot at all"),
		"another magic":        change(0, 'Q'),
		"a newer version":      change(4, snapshotVersion+1),
		"another shard count":  change(5, 1),
		"an unknown section":   change(7, 9),
		"a shard out of range": append(append(slices.Clone(good[:7]), 1, 0xff, 0xff, 0x7f), good[global:]...),
		"a section twice":      append(slices.Clone(good[:7]), bytes.Repeat(good[7:], 2)...),
		"global section twice": withGlobalSectionTwice(good),
	} {
		s := New()
		if _, err := s.LoadSnapshot(bytes.NewReader(file)); err == nil && what != "a section twice" {
			t.Errorf("%s was accepted", what)
		}
	}
}

// TestSectionWithSurplusByteIsRejected covers the sections of each kind, of which another goroutine decodes some.
func TestSectionWithSurplusByteIsRejected(t *testing.T) {
	file := snapshotOf(t, newBusyExchange())
	in := snapshotSectionReader{r: bytes.NewReader(file)}
	must.Succeed(t, in.readMagicVersionAndShardCount())
	for i := range 1 + sectionsPerShard {
		must.Succeed(t, in.nextSection())
		end := len(file) - in.r.(*bytes.Reader).Len()
		length := file[end-len(in.body)-4:][:4]
		larger := slices.Concat(file[:end-len(in.body)-4], binary.LittleEndian.AppendUint32(nil, binary.LittleEndian.Uint32(length)+1), in.body, []byte{0}, file[end:])
		_, err := New().LoadSnapshot(bytes.NewReader(larger))
		if want := fmt.Sprintf("section of kind %d of shard 0 ", in.kind); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("section %d: %v, want %q", i, err, want)
		}
	}
}

// withGlobalSectionTwice returns the file with the first section, the global one, repeated.
func withGlobalSectionTwice(file []byte) []byte {
	in := snapshotSectionReader{r: bytes.NewReader(file)}
	if err := in.readMagicVersionAndShardCount(); err != nil {
		panic(err)
	}
	head := len(file) - in.r.(*bytes.Reader).Len()
	if err := in.nextSection(); err != nil {
		panic(err)
	}
	global := file[head : len(file)-in.r.(*bytes.Reader).Len()]
	return slices.Concat(file[:head], global, global, file[head+len(global):])
}

// Every event that is not about a lead, and every use of an auction, changes the hash.
func TestHashCoversEveryEvent(t *testing.T) {
	for what, ev := range map[string]event.Event{
		"the founding's time":  &event.ExchangeFounded{Epoch: [16]byte{1}, KeyCheck: [16]byte{2}, At: 3},
		"the founding's epoch": &event.ExchangeFounded{Epoch: [16]byte{9}, KeyCheck: [16]byte{2}, At: monday},
		"the founding's key":   &event.ExchangeFounded{Epoch: [16]byte{1}, KeyCheck: [16]byte{9}, At: monday},
		"a catalog":            &event.ConfigActivated{Version: 1, Document: "d"},
		"an upload":            &event.SuppressionListContentLoaded{List: 1, Uploaded: true, By: "b"},
		"a name":               &event.ConfigObjectNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectBuyer, Ref: 4, ID: "x"}}},
		"a cap":                &event.ConfigObjectNumbersAssigned{Caps: []event.CapNumberAssignment{{Ref: 4}}},
		"a credential":         &event.CredentialAddedOrRevoked{Credential: 1, Owner: 1, OwnerRef: 1},
		"a revocation":         &event.CredentialAddedOrRevoked{Credential: 1, Owner: 1, OwnerRef: 1, Revoked: true},
		"a secret":             &event.SecretStoredOrDeleted{Name: "x", Sealed: []byte{1}},
		"a pause":              &event.CampaignOrBuyerPausedOrResumed{Target: event.ObjectBuyer, Ref: 1},
		"a list":               &event.SuppressionListContentLoaded{List: 1},
		"a user":               &event.UserAccountChanged{Name: "anna", Role: market.RoleViewer},
		"an invitation":        &event.InvitationCreatedOrRevoked{Hash: [32]byte{1}, Role: market.RoleViewer},
		"a second factor":      &event.UserSecondFactorChangedOrUsed{User: "anna", Change: event.SecondFactorEnrolled},
		"a user's token":       &event.APITokenAddedOrRevoked{User: "anna"},
		"alert settings":       &event.AlertSettingsChanged{Document: []byte("{}")},
		"an alert":             &event.AlertOrNotificationChanged{Transition: event.AlertFired, Rule: "r"},
		"a saved report":       &event.SavedReportChanged{ID: "r", Document: []byte("{}")},
		"a top-up":             &event.BuyerFundsAdjusted{Buyer: 1, Amount: 1},
		"an empty account":     &event.BuyerFundsAdjusted{Buyer: 3, Opening: true},
		"an auction":           auctionCompleted(monday + day),
		"a report's key":       &event.LeadStatusChangesDecided{Idempotency: event.RequestIdempotencyKey{Key: [16]byte{1}, ExpiresAt: monday + day}},
		"a webhook":            &event.LeadStatusChangesDecided{Changes: []event.DecidedLeadStatusChange{{Webhook: market.WebhookSold, Supplier: 1}}},
		"a return's month":     &event.LeadStatusChangesDecided{Changes: []event.DecidedLeadStatusChange{{Result: event.ChangePending, Return: event.MoneyAndCapsReversedByReturn{Month: 1}}}},
		"a failed attempt":     &event.WebhookAttemptedOrDecided{Supplier: 1, Outcome: event.WebhookFailed, At: monday},
		"webhooks off":         &event.SupplierWebhooksTurnedOnOrOff{Supplier: 1, Off: true},
		"an auction's key":     &event.PingAuctionCompleted{Idempotency: event.RequestIdempotencyKey{Key: [16]byte{1}, ExpiresAt: monday + day}},
	} {
		x := newTestExchange()
		_, before := x.Hash()
		x.logAndApply(ev)
		_, after := x.Hash()
		if before == after {
			t.Errorf("the hash does not cover %s", what)
		}
	}
	x := newTestExchange()
	_, before := x.Hash()
	x.applyTurn(7, []int32{1, 2})
	if _, after := x.Hash(); before == after {
		t.Error("the hash does not cover a turn")
	}
	sold := func(sale event.Sale) uint64 {
		x := newTestExchange()
		x.logAndApply(auctionCompleted(monday + day))
		x.logAndApply(leadDecided(sale, event.PostIntent{}, 0))
		_, hash := x.Hash()
		return hash
	}
	if sold(redSale) == sold(saleOfAuction(redSale)) {
		t.Error("the hash does not cover the sale of an auction")
	}
}

// The snapshot of an empty state starts before the first event is applied.
func TestSnapshotOfEmptyStateWhileEventsApply(t *testing.T) {
	x := newTestExchange()
	s := New()
	file := snapshotWriter{beforeWrite: map[int]func(){5: func() { replay(s, x.log, x.seq) }}}
	oldest, newest, err := s.WriteSnapshot(&file, nil)
	if err != nil || oldest != 0 || newest != x.seq {
		t.Fatalf("wrote positions %d to %d: %v", oldest, newest, err)
	}
	restored := New()
	if _, err := restored.LoadSnapshot(&file); err != nil {
		t.Fatal(err)
	}
	if position, _ := restored.Position(); position != 0 {
		t.Fatalf("replay would start after position %d, but the global section is empty", position)
	}
	replay(restored, x.log, x.seq)
	if _, hash := restored.Hash(); hash != func() uint64 { _, h := x.Hash(); return h }() {
		t.Error("the restored state differs")
	}
	if restored.RefOf(event.ObjectBuyer, "blue") != 3 {
		t.Error("the restored state has no names")
	}
}

// The damaged length is a gigabyte, which the file does not have.
func TestDamagedSectionLengthNeedsLittleMemory(t *testing.T) {
	head := append([]byte(snapshotMagic), snapshotVersion)
	head = binary.AppendUvarint(head, shardCount)
	head = append(head, sectionGlobal, 0, 1, 0)
	head = binary.LittleEndian.AppendUint32(head, maxSectionBytes)
	in := snapshotSectionReader{r: bytes.NewReader(head)}
	if err := in.readMagicVersionAndShardCount(); err != nil {
		t.Fatal(err)
	}
	if err := in.nextSection(); err == nil || cap(in.body) > 2<<20 {
		t.Errorf("%d bytes allocated for a file of %d bytes: %v", cap(in.body), len(head), err)
	}
}
