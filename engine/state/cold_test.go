package state

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state/coldtest"
	"pingpost/internal/must"
)

// mustClaimDuplicateKeys is ClaimAllDuplicateKeys with cold files that can be read.
func (s *State) mustClaimDuplicateKeys(owner *RequestReservations, keys []market.DuplicateKey, nowUnixNanos int64) (result ReserveResult, earlierLead market.LeadID, claimEnded <-chan struct{}) {
	result, earlierLead, claimEnded, err := s.ClaimAllDuplicateKeys(owner, keys, nowUnixNanos)
	if err != nil {
		panic(err)
	}
	return result, earlierLead, claimEnded
}

// mustClaimIdempotencyKey is ClaimIdempotencyKey with cold files that can be read.
func (s *State) mustClaimIdempotencyKey(owner *RequestReservations, key [16]byte, bodyFingerprint uint64, nowUnixNanos int64) IdempotencyKeyClaimResult {
	result, err := s.ClaimIdempotencyKey(owner, key, bodyFingerprint, nowUnixNanos)
	if err != nil {
		panic(err)
	}
	return result
}

// mergeColdFiles returns one file with the rows of all files that have not expired.
func mergeColdFiles(t must.Test, newestFirst []ColdFile, now uint32) *coldtest.File {
	files := make([]*coldtest.File, 0, len(newestFirst))
	for _, file := range newestFirst {
		files = append(files, file.(*coldtest.File))
	}
	merged := coldtest.Merge(files, func(kind int, row []byte) bool { return ColdRowExpiry(kind, row) <= now })
	merged.Metadata = must.Value(MergedFileMeta(newestFirst, now))(t)
	return merged
}

// compareRows compares the rows of a state, in memory and in files, with those of a state without files.
func compareRows(t *rapid.T, name string, s, plain *State) {
	t.Helper()
	now := unixSecondsRoundedDown(plain.at)
	for i := range shardCount {
		for n := range plain.leads[i].table.rows.n {
			want := plain.leads[i].table.rows.at(n)
			if got, found, err := s.Lead(want.ID); err != nil || (want.expiryUnixSeconds() > now && (!found || got != *want)) {
				t.Fatalf("%s: lead %+v, %t, %v, want %+v", name, got, found, err, *want)
			}
		}
		for n := range plain.duplicates[i].table.rows.n {
			want := plain.duplicates[i].table.rows.at(n)
			got, found, err := s.FindLeadByDuplicateKey(want.Key, plain.at)
			if err != nil || found != (want.Until > now) || (found && got != want.Lead) {
				t.Fatalf("%s: duplicate of %v, %t, %v, want %+v", name, got, found, err, *want)
			}
			var h RequestReservations
			result, lead, _ := s.mustClaimDuplicateKeys(&h, []market.DuplicateKey{want.Key}, plain.at)
			if found != (result == Full) || (found && lead != want.Lead) {
				t.Fatalf("%s: the claim of duplicate value %+v has result %v of %v", name, *want, result, lead)
			}
			s.ReleaseAll(&h)
		}
		for n := range plain.idempotency[i].table.rows.n {
			want := plain.idempotency[i].table.rows.at(n)
			var h, h2 RequestReservations
			got, expected := s.mustClaimIdempotencyKey(&h, want.Key, want.Fingerprint, plain.at), plain.mustClaimIdempotencyKey(&h2, want.Key, want.Fingerprint, plain.at)
			if got.IsUsed() != expected.IsUsed() || got.SameBody != expected.SameBody || got.Lead != expected.Lead {
				t.Fatalf("%s: key %+v, want %+v", name, got, expected)
			}
			s.ReleaseAll(&h)
			plain.ReleaseAll(&h2)
		}
	}
	if s.ReservationCount() != 0 {
		t.Fatalf("%s: %d reservations are left", name, s.ReservationCount())
	}
}

// Whenever rows move to files, are loaded again and change, and files are merged or lost, the state has the same
// rows and the same hash as one that has all rows in memory.
func TestStateWithColdFilesEqualsStateInMemory(t *testing.T) {
	moved, rebuilt := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		x, hashes := newEventGenerator(t), make(map[uint64]uint64)
		for range rapid.IntRange(0, 150).Draw(t, "steps") {
			x.step()
			_, hashes[x.seq] = x.Hash()
		}
		plain, live := New(), New()
		for position := uint64(0); position < x.seq; {
			position = min(x.seq, position+rapid.Uint64Range(1, 60).Draw(t, "events"))
			if seq, _ := live.Position(); seq > position {
				position = seq
			}
			replay(live, x.log, position)
			replay(plain, x.log, position)
			checkHash(t, "before the move", live, hashes)
			compareRows(t, "before the move", live, plain)

			file := coldtest.New(ColdRowShape())
			move := &RowMove{DecidedBefore: live.at + 1 - int64(rapid.IntRange(0, 3).Draw(t, "hours"))*hour, To: file}
			snapshot := snapshotWriter{beforeWrite: map[int]func(){}}
			for range rapid.IntRange(0, 5).Draw(t, "events meanwhile") {
				snapshot.beforeWrite[rapid.IntRange(1, rowWrites).Draw(t, "write")] = func() {
					seq, _ := live.Position()
					replay(live, x.log, min(seq+1, x.seq))
				}
			}
			_, newest, err := live.WriteSnapshot(&snapshot, move)
			if err != nil {
				t.Fatal(err)
			}
			file.Metadata = move.FileMeta()
			position = max(position, newest)
			if rapid.IntRange(0, 9).Draw(t, "snapshot is lost") == 0 {
				continue
			}
			moved += move.Moved
			if err := live.ForgetMovedRows(append([]ColdFile{file}, live.ColdFiles()...), live.at); err != nil {
				t.Fatal(err)
			}

			restored := New()
			restored.SetColdFiles(live.ColdFiles())
			if _, err := restored.LoadSnapshot(bytes.NewReader(snapshot.Bytes())); err != nil {
				t.Fatal(err)
			}
			withoutFiles := New()
			if _, err := withoutFiles.LoadSnapshot(bytes.NewReader(snapshot.Bytes())); err != nil {
				t.Fatal(err)
			}
			for _, s := range []*State{live, restored, withoutFiles, plain} {
				replay(s, x.log, position)
			}
			rows := NewRowRebuild(1)
			replay(rows, x.log, position)
			rebuilt += withoutFiles.AddRebuiltRows(rows)
			for name, s := range map[string]*State{"live": live, "restored": restored, "rebuilt": withoutFiles} {
				checkHash(t, name, s, hashes)
				if err := s.CheckColdRows(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				compareRows(t, name, s, plain)
			}
			live = rapid.SampledFrom([]*State{live, restored, withoutFiles}).Draw(t, "goes on")
			if files := live.ColdFiles(); len(files) > 2 {
				live.SetColdFiles([]ColdFile{mergeColdFiles(t, files, unixSecondsRoundedDown(live.at))})
			}
			if len(x.log) > 0 && rapid.Bool().Draw(t, "load") {
				for i := range shardCount {
					for n := range plain.leads[i].table.rows.n {
						if err := live.LoadLeadIntoMemory(plain.leads[i].table.rows.at(n).ID, live.at); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		}
	})
	if moved == 0 || rebuilt == 0 { // about 200 and 150 with -short
		t.Errorf("%d rows moved, %d rows were rebuilt", moved, rebuilt)
	}
}

// An error of a file is no missing row: claims and reads fail, and keep no claim.
func TestColdFileErrorIsNoMissingRow(t *testing.T) {
	x := newTestExchange()
	broken := errors.New("broken")
	file := coldtest.New(ColdRowShape())
	file.Broken = broken
	x.SetColdFiles([]ColdFile{file})
	var h RequestReservations
	_, keyErr := x.ClaimIdempotencyKey(&h, [16]byte{1}, 1, x.at)
	_, _, _, duplicateErr := x.ClaimAllDuplicateKeys(&h, []market.DuplicateKey{{1}, {2}}, x.at)
	_, _, foundErr := x.FindLeadByDuplicateKey(market.DuplicateKey{1}, x.at)
	_, _, leadErr := x.Lead(market.LeadID{1})
	loadErr := x.LoadLeadIntoMemory(market.LeadID{1}, x.at)
	for name, err := range map[string]error{"key": keyErr, "duplicate value": duplicateErr, "found": foundErr, "lead": leadErr, "load": loadErr} {
		if !errors.Is(err, broken) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if x.ReservationCount() != 0 {
		t.Errorf("%d claims are left", x.ReservationCount())
	}
	var reported error
	x.CallOnColdFailure(func(err error) { reported = err })
	x.logAndApply(&event.LeadStatusChangesDecided{Buyer: 1, Changes: []event.DecidedLeadStatusChange{{Lead: market.LeadID{1}, Result: event.ChangeDone, To: market.StatusContacted}}})
	if !errors.Is(reported, broken) || !errors.Is(x.ColdFailure(), broken) {
		t.Errorf("Apply reported %v and has the failure %v", reported, x.ColdFailure())
	}
}

// newColdLead returns an exchange whose only lead was sold to a buyer and is in a file, and the file.
func newColdLead(t *testing.T) (x *testExchange, lead market.LeadID, file *coldtest.File) {
	x = newTestExchange()
	lead = x.newID()
	x.logAndApply(&event.LeadDecided{Lead: lead, Decided: x.at, Keep: x.at + day, Campaign: 1, Supplier: 1, Sale: event.Sale{Buyer: 1, Price: dollar}})
	file = x.moveClosedLeads(t, 0)
	return x, lead, file
}

// moveClosedLeads moves all closed leads from the first entry on to a file.
func (x *testExchange) moveClosedLeads(t *testing.T, firstEntry uint64) *coldtest.File {
	t.Helper()
	file := coldtest.New(ColdRowShape())
	move := &RowMove{DecidedBefore: x.at + 1, FirstEntry: firstEntry, To: file}
	if _, _, err := x.WriteSnapshot(io.Discard, move); err != nil {
		t.Fatal(err)
	}
	file.Metadata = move.FileMeta()
	must.Succeed(t, x.ForgetMovedRows(append([]ColdFile{file}, x.ColdFiles()...), x.at))
	return file
}

func (x *testExchange) returnLead(lead market.LeadID) {
	x.logAndApply(&event.LeadStatusChangesDecided{Buyer: 1, At: x.at, Changes: []event.DecidedLeadStatusChange{{Lead: lead, Result: event.ChangeDone, To: market.StatusReturned}}})
}

// A lead that was loaded, changed and has expired since must not come back in the file's version before the change.
func TestExpiredColdLeadDoesNotComeBack(t *testing.T) {
	x, lead, _ := newColdLead(t)
	x.returnLead(lead)
	if row, found, err := x.Lead(lead); err != nil || !found || row.Status != market.StatusReturned {
		t.Fatalf("after the return: %+v, %t, %v", row, found, err)
	}
	x.at += 2 * day
	for n := range 5 { // their sweep removes the lead
		id := lead
		id[0] = byte(n + 1)
		x.logAndApply(&event.LeadDecided{Lead: id, Decided: x.at, Keep: x.at + day, Reason: market.ReasonNoBuyer})
	}
	if _, inMemory := x.LeadInMemory(lead); inMemory {
		t.Fatal("the expired lead is still in memory")
	}
	if row, found, err := x.Lead(lead); err != nil || found {
		t.Errorf("the expired lead is found again: %+v, %v", row, err)
	}
	must.Succeed(t, x.LoadLeadIntoMemory(lead, x.at))
	if _, inMemory := x.LeadInMemory(lead); inMemory {
		t.Error("the expired lead was loaded")
	}
	restored := New()
	restored.SetColdFiles(x.ColdFiles())
	must.Value(restored.LoadSnapshot(bytes.NewReader(snapshotOf(t, x))))(t)
	if row, found, err := restored.Lead(lead); err != nil || found {
		t.Errorf("after a start the expired lead is found again: %+v, %v", row, err)
	}
}

// A request keeps a lead in memory while it changes it, whether the lead was in memory or in a file.
func TestLeadInUseStaysInMemory(t *testing.T) {
	x, cold, _ := newColdLead(t)
	hot := x.newID()
	x.logAndApply(&event.LeadDecided{Lead: hot, Decided: x.at, Keep: x.at + day, Reason: market.ReasonNoBuyer})
	for _, lead := range []market.LeadID{cold, hot} {
		must.Succeed(t, x.LoadLeadIntoMemory(lead, x.at))
	}
	x.moveClosedLeads(t, 0)
	for _, lead := range []market.LeadID{cold, hot} {
		if _, inMemory := x.LeadInMemory(lead); !inMemory {
			t.Errorf("lead %s has left the memory", lead)
		}
	}
	x.returnLead(cold)
	x.at += 2 * int64(time.Minute)
	x.logAndApply(&event.OperatorActionRecorded{})
	x.moveClosedLeads(t, 0)
	for _, lead := range []market.LeadID{cold, hot} {
		if _, inMemory := x.LeadInMemory(lead); inMemory {
			t.Errorf("lead %s is still in memory after two minutes", lead)
		}
	}
	must.Succeed(t, x.CheckColdRows())
}

// Between copy and removal a request may begin to change a lead. Then the lead stays in memory, and the next file
// replaces its version in this one.
func TestLeadInUseIsNotForgotten(t *testing.T) {
	x, lead, _ := newColdLead(t)
	x.at += 2 * int64(time.Minute)
	must.Succeed(t, x.LoadLeadIntoMemory(lead, x.at-2*int64(time.Minute)))
	file := coldtest.New(ColdRowShape())
	move := &RowMove{DecidedBefore: x.at, To: file}
	if _, _, err := x.WriteSnapshot(io.Discard, move); err != nil || move.Moved != 1 {
		t.Fatalf("%d rows moved, %v", move.Moved, err)
	}
	file.Metadata = move.FileMeta()
	must.Succeed(t, x.LoadLeadIntoMemory(lead, x.at))
	must.Succeed(t, x.ForgetMovedRows(append([]ColdFile{file}, x.ColdFiles()...), x.at))
	if _, inMemory := x.LeadInMemory(lead); !inMemory {
		t.Error("the lead has left the memory")
	}
	x.returnLead(lead)
	must.Succeed(t, x.CheckColdRows())
}

// A lead whose entry the log no longer has stays in memory, because a file with it could not be rebuilt.
func TestLeadBeforeLogStaysInMemory(t *testing.T) {
	x := newTestExchange()
	lead := x.newID()
	x.logAndApply(&event.LeadDecided{Lead: lead, Decided: x.at, Keep: x.at + day, Reason: market.ReasonNoBuyer})
	x.moveClosedLeads(t, x.seq+1)
	if _, inMemory := x.LeadInMemory(lead); !inMemory {
		t.Error("the lead has left the memory")
	}
}

// A merge keeps a row until the second of its expiry, so the meta must name the row's minute until that minute ends.
func TestMergedFileLastsUntilLastRowExpires(t *testing.T) {
	now := uint32(monday/second) + 20
	for expiry, lasts := range map[uint32]bool{now - 60: false, now + 10: true, now + 60: true} {
		var sums rowHashSums
		sums.add(expiry, 77)
		file := coldtest.New(ColdRowShape())
		file.Metadata = sums.encode(0)
		meta := must.Value(MergedFileMeta([]ColdFile{file}, now))(t)
		if got := ColdFileExpiry(meta) > int64(now); got != lasts {
			t.Errorf("a row that expires in %d s: the merged file lasts: %t", int64(expiry)-int64(now), got)
		}
	}
}

// The first key in the list that is not free decides, whether its row is in memory or in a file, and no claim is left.
func TestFirstDuplicateKeyDecides(t *testing.T) {
	x := newTestExchange()
	sell := func(key market.DuplicateKey) market.LeadID {
		lead := x.newID()
		x.logAndApply(&event.LeadDecided{Lead: lead, Decided: x.at, Keep: x.at + day, Campaign: 1, Supplier: 1, Sale: event.Sale{
			Buyer: 1, Price: dollar, Duplicates: []event.DuplicateCheckValue{{Key: key, Until: x.at + day}},
		}})
		return lead
	}
	inFile, inMemory, claimed, free := market.DuplicateKey{1}, market.DuplicateKey{2}, market.DuplicateKey{3}, market.DuplicateKey{4}
	cold := sell(inFile)
	x.moveClosedLeads(t, 0)
	hot := sell(inMemory)
	var other, owner RequestReservations
	x.mustClaimDuplicateKeys(&other, []market.DuplicateKey{claimed}, x.at)
	before := x.ReservationCount()
	for _, test := range []struct {
		keys   []market.DuplicateKey
		result ReserveResult
		lead   market.LeadID
	}{
		{[]market.DuplicateKey{inFile, inMemory}, Full, cold},
		{[]market.DuplicateKey{free, inMemory, inFile}, Full, hot},
		{[]market.DuplicateKey{free, free, inFile, claimed}, Full, cold},
		{[]market.DuplicateKey{free, claimed, inFile}, Contended, market.LeadID{}},
		{[]market.DuplicateKey{free}, Reserved, market.LeadID{}},
	} {
		result, lead, wait := x.mustClaimDuplicateKeys(&owner, test.keys, x.at)
		if result != test.result || lead != test.lead || (wait != nil) != (result == Contended) {
			t.Errorf("%v: result %v, lead %s, want %v, %s", test.keys, result, lead, test.result, test.lead)
		}
		x.ReleaseAll(&owner)
		if left := x.ReservationCount(); left != before {
			t.Errorf("%v: %d reservations are left, want %d", test.keys, left, before)
		}
	}
}
