package state

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"sync/atomic"
	"time"

	"pingpost/engine/market"
)

// ColdFile is an immutable file with the rows of old closed leads: the leads, their duplicate values and their
// idempotency keys. Package rowfile implements it. kind is coldLeads, coldDuplicates or coldKeys; shard is
// shardIndex of the key.
//
// A row is cold if it is in a cold file and not in memory. Of several files with a row, the newest one counts, and
// a row in memory counts before all files. The rules:
//
//   - WriteSnapshot moves rows. A snapshot and the cold files that it names are one state, so an older snapshot
//     names other files. ForgetMovedRows then removes the rows from memory.
//   - Only rows of closed leads move: those whose answer is final and whose delivery has ended. From then on
//     only a buyer's status report or an operator's decision on a return changes the lead, and its keys and
//     duplicate values never change.
//   - Callers of Lead and of the claims read files, outside of all locks. Apply reads no file in a process that
//     decides: a request keeps its leads in memory (LoadLeadIntoMemory) before it logs a change of them.
//     A replay and a follower of a cluster have no such request. There Apply loads a cold lead itself.
//   - Moving or loading a row changes no sum of State.Hash, which counts cold rows too.
//   - An error of a file is never taken for a missing row.
type ColdFile interface {
	// MayHave reports whether the file may have a row with this key. It reads no disk.
	MayHave(kind, shard int, key [16]byte) bool
	// Find appends the row with this key to dst.
	Find(kind, shard int, key [16]byte, dst []byte) (row []byte, found bool, err error)
	// AppendPart appends all rows of a kind and shard to dst.
	AppendPart(dst []byte, kind, shard int) ([]byte, error)
	// Meta returns the result of RowMove.FileMeta or MergedFileMeta.
	Meta() []byte
}

const (
	coldLeads      = 0
	coldDuplicates = 1
	coldKeys       = 2

	coldLeadBytes      = 96
	coldDuplicateBytes = 36
	coldKeyBytes       = 45
)

// ColdRowShape returns the number of shards of cold files, and the size of a row of each kind.
func ColdRowShape() (shards int, rowBytes []int) {
	return shardCount, []int{coldLeads: coldLeadBytes, coldDuplicates: coldDuplicateBytes, coldKeys: coldKeyBytes}
}

// coldRow is implemented by rows that can be in cold files.
type coldRow[R any] interface {
	snapshotRow[R]
	appendCold(dst []byte) []byte
	decodeCold(encoded []byte)
}

// coldFiles holds the cold files of a state, and the first error that Apply had with them.
type coldFiles struct {
	newestFirst atomic.Pointer[[]ColdFile] // may be nil
	failure     atomic.Pointer[error]
	onFailure   func(error) // may be nil
}

// ColdFiles returns the cold files, the newest first.
func (s *State) ColdFiles() (newestFirst []ColdFile) {
	if files := s.cold.newestFirst.Load(); files != nil {
		return *files
	}
	return nil
}

// SetColdFiles replaces the cold files by others with the same rows, or sets those of the snapshot before
// LoadSnapshot.
func (s *State) SetColdFiles(newestFirst []ColdFile) {
	if len(newestFirst) == 0 {
		s.cold.newestFirst.Store(nil)
		return
	}
	s.cold.newestFirst.Store(&newestFirst)
}

// ColdFailure returns the error because of which Apply could not read a cold lead, or nil. The state is then
// incomplete and must not be used.
func (s *State) ColdFailure() error {
	if failure := s.cold.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// CallOnColdFailure sets a function that gets the error of ColdFailure. It must not call the state.
func (s *State) CallOnColdFailure(f func(error)) { s.cold.onFailure = f }

// findCold looks for a row in the cold files. It may read the disk. The caller has found that memory does not
// have the row.
func findCold[R any, P coldRow[R]](s *State, kind int, key [16]byte) (row R, found bool, err error) {
	newestFirst := s.ColdFiles()
	for i, file := range newestFirst {
		if file.MayHave(kind, shardIndex(&key), key) {
			return readCold[R, P](newestFirst[i:], kind, key)
		}
	}
	return row, false, nil
}

// readCold is findCold after a filter has let the key pass. It is separate because it allocates memory.
func readCold[R any, P coldRow[R]](newestFirst []ColdFile, kind int, key [16]byte) (row R, found bool, err error) {
	for _, file := range newestFirst {
		encoded, found, err := file.Find(kind, shardIndex(&key), key, nil)
		if err != nil {
			return row, false, fmt.Errorf("cannot read a row of a closed lead: %w", err)
		}
		if found {
			P(&row).decodeCold(encoded)
			return row, true, nil
		}
	}
	return row, false, nil
}

// findUnexpiredCold is findCold without rows that have expired at nowUnixNanos.
func findUnexpiredCold[R any, P coldRow[R]](s *State, kind int, key [16]byte, nowUnixNanos int64) (row R, found bool, err error) {
	if row, found, err = findCold[R, P](s, kind, key); !found {
		return row, false, err
	}
	return row, isUnexpired[R, P](row, nowUnixNanos), nil
}

func isUnexpired[R any, P coldRow[R]](row R, nowUnixNanos int64) bool {
	return P(&row).expiryUnixSeconds() > unixSecondsRoundedDown(nowUnixNanos)
}

// replacedColdLead describes a lead's row in the newest cold file that has the lead, when the lead is also in memory.
// The row in memory is the valid one, so a load of a snapshot subtracts the hash of the row in the file.
type replacedColdLead struct {
	expiry uint32
	hash   uint64
}

// changeTime is the time for which LoadLeadIntoMemory keeps a lead in memory. Requests that change a lead take a
// few seconds.
const changeTime = int64(time.Minute)

// LoadLeadIntoMemory loads a lead from its cold file if it is not in memory, and keeps it in memory for at least a
// minute, so that an event can change it. It ignores an unknown lead. The caller must hold the lead's lock.
func (s *State) LoadLeadIntoMemory(id market.LeadID, nowUnixNanos int64) error {
	shard := s.leadShardOf(&id)
	shard.mu.Lock()
	if shard.inUseUntil == nil {
		shard.inUseUntil = make(map[market.LeadID]int64)
	}
	shard.inUseUntil[id] = nowUnixNanos + changeTime
	_, _, inMemory := shard.table.findWithExpired((*[16]byte)(&id))
	shard.mu.Unlock()
	if inMemory {
		return nil
	}
	lead, found, err := s.findColdLead(id)
	if err != nil || !found {
		return err
	}
	s.applying.Lock()
	defer s.applying.Unlock()
	shard.mu.Lock()
	defer shard.mu.Unlock()
	shard.addLoadedLeadLocked(&lead)
	return nil
}

// findColdLead looks for a lead in the cold files. It does not return an expired lead, because memory may have had a
// newer version of it until a sweep.
func (s *State) findColdLead(id market.LeadID) (lead Lead, found bool, err error) {
	lead, found, err = findCold[Lead](s, coldLeads, id)
	return lead, found && lead.Keep > s.appliedSeconds.Load(), err
}

// loadColdLeadForApply loads a cold lead that an event changes. In a process that decides, the request has
// loaded it already. The caller holds s.applying.
func (s *State) loadColdLeadForApply(id market.LeadID, seq uint64) {
	shard := s.leadShardOf(&id)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if _, _, inMemory := shard.table.findWithExpired((*[16]byte)(&id)); inMemory || seq <= shard.loaded {
		return
	}
	lead, found, err := s.findColdLead(id)
	if err != nil && s.cold.failure.CompareAndSwap(nil, &err) && s.cold.onFailure != nil {
		s.cold.onFailure(err)
	}
	if found {
		shard.addLoadedLeadLocked(&lead)
	}
}

// addLoadedLeadLocked adds a lead of a cold file to memory, unless memory has it already. The caller holds the
// shard's lock and s.applying.
func (shard *leadShard) addLoadedLeadLocked(lead *Lead) {
	if _, _, inMemory := shard.table.findWithExpired(lead.key()); inMemory {
		return
	}
	shard.table.addCountedRow(lead)
	shard.setReplacedLocked(lead)
}

// setReplacedLocked records that a cold file has this version of a lead, which memory has too.
func (shard *leadShard) setReplacedLocked(inFile *Lead) {
	if shard.replaced == nil {
		shard.replaced = make(map[market.LeadID]replacedColdLead)
	}
	shard.replaced[inFile.ID] = replacedColdLead{inFile.expiryUnixSeconds(), inFile.contentHash()}
}

// copyReplacedLeads returns a copy of shard.replaced. It forgets leads that have expired, and uses that have ended. The
// caller holds s.applying.
func (shard *leadShard) copyReplacedLeads(nowUnixNanos int64) map[market.LeadID]replacedColdLead {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	maps.DeleteFunc(shard.replaced, func(_ market.LeadID, of replacedColdLead) bool {
		return of.expiry/60 < unixSecondsRoundedDown(nowUnixNanos)/60
	})
	maps.DeleteFunc(shard.inUseUntil, func(_ market.LeadID, until int64) bool { return until <= nowUnixNanos })
	return maps.Clone(shard.replaced)
}

func (r *replacedColdLead) encodeOrDecodeSnapshot(c *snapshotSectionCodec, id *market.LeadID) {
	encodeOrDecodeFixedBytes(c, id[:])
	encodeOrDecodeUvarint(c, &r.expiry)
	encodeOrDecodeFixed64(c, &r.hash)
}

// loadReplacedLeads decodes the leads of a shard that a cold file has too, and takes those versions out of the
// sums. Without the snapshot's cold files it skips them.
func (s *State) loadReplacedLeads(shard *leadShard, body *snapshotSectionCodec) {
	for range body.encodeOrDecodeCount(0) {
		var id market.LeadID
		var replaced replacedColdLead
		if replaced.encodeOrDecodeSnapshot(body, &id); body.err != nil {
			return
		}
		if s.cold.newestFirst.Load() == nil {
			continue
		}
		if shard.replaced == nil {
			shard.replaced = make(map[market.LeadID]replacedColdLead)
		}
		shard.replaced[id] = replaced
		s.rowSums.add(replaced.expiry, -replaced.hash)
	}
}

// appendCold encodes the lead in coldLeadBytes bytes.
func (l *Lead) appendCold(dst []byte) []byte {
	dst = append(append(dst, l.ID[:]...), l.Request[:]...)
	for _, number := range [...]uint64{uint64(l.Price), uint64(l.Payout), uint64(l.Decided), l.Seq, l.Settled} {
		dst = binary.LittleEndian.AppendUint64(dst, number)
	}
	for _, number := range [...]uint32{l.Keep, uint32(l.Campaign), uint32(l.Supplier), uint32(l.Buyer)} {
		dst = binary.LittleEndian.AppendUint32(dst, number)
	}
	return append(append(dst, l.Currency[:]...), byte(l.Status), byte(l.Delivery), byte(l.Reason), byte(l.Answer), byte(l.LeadFlags))
}

func (l *Lead) decodeCold(b []byte) {
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	half := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	l.ID, l.Request = market.LeadID(b), market.RequestID(b[16:])
	l.Price, l.Payout, l.Decided = market.Money(word(32)), market.Money(word(40)), int64(word(48))
	l.Seq, l.Settled = word(56), word(64)
	l.Keep, l.Campaign = half(72), market.PermanentNumber(half(76))
	l.Supplier, l.Buyer = market.PermanentNumber(half(80)), market.PermanentNumber(half(84))
	l.Currency = market.Currency(b[88:])
	l.Status, l.Delivery, l.Reason = market.LeadStatus(b[91]), market.DeliveryState(b[92]), market.UnsoldReason(b[93])
	l.Answer, l.LeadFlags = AnswerToSupplier(b[94]), LeadFlags(b[95])
}

func (d *duplicateCheckRow) appendCold(dst []byte) []byte {
	return binary.LittleEndian.AppendUint32(append(append(dst, d.Key[:]...), d.Lead[:]...), d.Until)
}

func (d *duplicateCheckRow) decodeCold(b []byte) {
	*d = duplicateCheckRow{market.DuplicateKey(b), market.LeadID(b[16:]), binary.LittleEndian.Uint32(b[32:])}
}

func (k *idempotencyRow) appendCold(dst []byte) []byte {
	dst = append(append(dst, k.Key[:]...), k.AnsweredBy[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, k.Fingerprint)
	return append(binary.LittleEndian.AppendUint32(dst, k.Until), byte(k.Kind))
}

func (k *idempotencyRow) decodeCold(b []byte) {
	*k = idempotencyRow{
		Key: [16]byte(b), AnsweredBy: leadIDOrEventSeq(b[16:]), Fingerprint: binary.LittleEndian.Uint64(b[32:]),
		Until: binary.LittleEndian.Uint32(b[40:]), Kind: leadIDOrEventSeqKind(b[44]),
	}
}

// ColdRowKeptFor returns for how long a lead in a row of a cold file is kept after its decision. It is 0 for the other
// kinds of rows, which are kept no longer than their lead.
func ColdRowKeptFor(kind int, row []byte) time.Duration {
	if kind != coldLeads {
		return 0
	}
	var lead Lead
	lead.decodeCold(row)
	return lead.keptFor()
}

// keptFor returns for how long the lead is kept after its decision.
func (l *Lead) keptFor() time.Duration {
	return time.Duration(int64(l.Keep)*int64(time.Second) - l.Decided)
}

// ColdRowExpiry returns the time from which a row of a cold file may be dropped, in Unix seconds.
func ColdRowExpiry(kind int, row []byte) uint32 {
	switch kind {
	case coldLeads:
		return binary.LittleEndian.Uint32(row[72:])
	case coldDuplicates:
		return binary.LittleEndian.Uint32(row[32:])
	case coldKeys:
		return binary.LittleEndian.Uint32(row[40:])
	}
	return math.MaxUint32
}
