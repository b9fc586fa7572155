package state

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"pingpost/engine/market"
)

// ColdPartWriter writes a cold file: a part of each kind for shard 0, then for shard 1, and so on. rows has
// encoded rows in the order of compareColdKeys.
type ColdPartWriter interface {
	WritePart(rows []byte) error
}

// RowMove moves the rows of old closed leads from memory to a cold file, as a part of WriteSnapshot. The snapshot has
// all other rows. When file and snapshot are durable, the caller calls ForgetMovedRows.
//
// A duplicate value or key moves to the file if its lead may move, and if it expires no later than the lead. The log
// keeps a lead's events until the lead expires, so the files can be rebuilt from the log.
type RowMove struct {
	DecidedBefore int64  // leads decided before this time move, Unix nanoseconds
	FirstEntry    uint64 // of the log; leads that were decided before it do not move, because they cannot be rebuilt
	To            ColdPartWriter

	Moved   int           // rows that have moved
	KeptFor time.Duration // the longest time for which a moved lead is kept after its decision

	sums rowHashSums // of the moved rows, less the versions in older files
	part []byte      // encoded rows of the present part
	err  error
}

// shouldMoveLead reports whether a lead moves, in a section with the log position stamp.
func (m *RowMove) shouldMoveLead(lead *Lead, stamp uint64) bool {
	return lead.Decided < m.DecidedBefore && lead.Seq >= m.FirstEntry && lead.Seq <= stamp && lead.Settled <= stamp && lead.Answer != AnswerNone && lead.expiryUnixSeconds() == lead.Keep
}

// shouldMoveRowOfLead reports whether a key or duplicate value moves that refers to a lead and expires at until. Its
// lead is in memory. (Rejected: to look for the lead in the files too. It would find only the few rows whose lead was
// just being closed when their section was copied, and cost a read for each value that outlives its lead.)
func (m *RowMove) shouldMoveRowOfLead(s *State, id market.LeadID, until uint32, stamp uint64) bool {
	lead, found := s.LeadInMemory(id)
	return found && until <= lead.Keep && m.shouldMoveLead(&lead, stamp)
}

// compareColdKeys orders keys by their last eight bytes, and then by the first eight. The first bytes of a lead's id
// are its time, so they are alike for leads of one time.
func compareColdKeys(a, b *[16]byte) int {
	return cmp.Or(bytes.Compare(a[8:], b[8:]), bytes.Compare(a[:8], b[:8]))
}

// moveRows removes the rows that move from rows, and writes them as the next part of the file. The result is
// the rows that stay.
func moveRows[R any, P coldRow[R]](m *RowMove, rows []R, moves func(P) bool) (staying []R) {
	if m == nil {
		return rows
	}
	var moving []R
	staying = rows[:0]
	for i := range rows {
		if moves(&rows[i]) {
			moving = append(moving, rows[i])
			m.Moved++
		} else {
			staying = append(staying, rows[i])
		}
	}
	slices.SortFunc(moving, func(a, b R) int { return compareColdKeys(P(&a).key(), P(&b).key()) })
	m.part = m.part[:0]
	for i := range moving {
		row := P(&moving[i])
		m.sums.add(row.expiryUnixSeconds(), row.contentHash())
		m.part = row.appendCold(m.part)
	}
	if m.err == nil {
		m.err = m.To.WritePart(m.part)
	}
	return staying
}

// moveLeads moves leads of a section. It takes the versions that older files have out of the sums.
func (m *RowMove) moveLeads(leads []Lead, replaced map[market.LeadID]replacedColdLead, stamp uint64) (staying []Lead) {
	return moveRows(m, leads, func(lead *Lead) bool {
		if !m.shouldMoveLead(lead, stamp) {
			return false
		}
		old, isInFile := replaced[lead.ID]
		m.KeptFor = max(m.KeptFor, lead.keptFor())
		if isInFile {
			m.sums.add(old.expiry, -old.hash)
			delete(replaced, lead.ID)
		}
		return true
	})
}

func (m *RowMove) moveDuplicates(s *State, rows []duplicateCheckRow, stamp uint64) (staying []duplicateCheckRow) {
	return moveRows(m, rows, func(row *duplicateCheckRow) bool { return m.shouldMoveRowOfLead(s, row.Lead, row.Until, stamp) })
}

func (m *RowMove) moveKeys(s *State, rows []idempotencyRow, stamp uint64) (staying []idempotencyRow) {
	return moveRows(m, rows, func(row *idempotencyRow) bool {
		return row.Kind == byLead && m.shouldMoveRowOfLead(s, market.LeadID(row.AnsweredBy), row.Until, stamp)
	})
}

// FileMeta returns the meta of the file: the sums of its rows.
func (m *RowMove) FileMeta() []byte { return m.sums.encode(0) }

// MergedFileMeta returns the meta of a file that has the rows of these files that expire in the minute of
// nowUnixSeconds or later.
func MergedFileMeta(files []ColdFile, nowUnixSeconds uint32) ([]byte, error) {
	var sums rowHashSums
	for _, file := range files {
		if err := sums.addEncoded(file.Meta()); err != nil {
			return nil, err
		}
	}
	return sums.encode(nowUnixSeconds / 60), nil
}

// coldMetaEntryBytes is the size of an encoded sum, with its minute of expiry.
const coldMetaEntryBytes = 12

// ColdFileExpiry returns the time in Unix seconds at which all rows of a file with this meta have expired.
func ColdFileExpiry(meta []byte) (unixSeconds int64) {
	if len(meta) < coldMetaEntryBytes {
		return 0
	}
	return 60 * (int64(binary.LittleEndian.Uint32(meta[len(meta)-coldMetaEntryBytes:])) + 1)
}

// ColdFileExpiredPercent returns about how many of the rows of a file with this meta have expired at unixSeconds: the
// share of the minutes in which rows expire.
func ColdFileExpiredPercent(meta []byte, unixSeconds int64) (percent int) {
	minutes := len(meta) / coldMetaEntryBytes
	if minutes == 0 {
		return 0
	}
	expired := sort.Search(minutes, func(i int) bool {
		return int64(binary.LittleEndian.Uint32(meta[i*coldMetaEntryBytes:])) >= unixSeconds/60
	})
	return 100 * expired / minutes
}

// encode encodes the sums from a minute on: minute of expiry u32, sum u64, and so on.
func (r *rowHashSums) encode(firstMinute uint32) (encoded []byte) {
	for day, sums := range r.days {
		if sums == nil {
			continue
		}
		for minute, sum := range &sums.minutes {
			if sum != 0 && day*minutesPerDay+minute >= int(firstMinute) {
				encoded = binary.LittleEndian.AppendUint32(encoded, uint32(day*minutesPerDay+minute))
				encoded = binary.LittleEndian.AppendUint64(encoded, sum)
			}
		}
	}
	return encoded
}

var errColdMeta = errors.New("the meta of a cold file is damaged")

// addEncoded adds encoded sums.
func (r *rowHashSums) addEncoded(encoded []byte) error {
	for ; len(encoded) >= coldMetaEntryBytes; encoded = encoded[coldMetaEntryBytes:] {
		minute := binary.LittleEndian.Uint32(encoded)
		if minute >= 1<<32/60 {
			return errColdMeta
		}
		r.add(minute*60, binary.LittleEndian.Uint64(encoded[4:]))
	}
	if len(encoded) > 0 {
		return errColdMeta
	}
	return nil
}

// removalsPerLock is the number of rows that ForgetMovedRows removes while Apply waits.
const removalsPerLock = 64

// ForgetMovedRows sets the cold files, of which the newest is that of a move, and removes the moved rows from memory.
// The file and the snapshot that names it are durable. A lead that has changed since, or is to change by the clock's
// nowUnixNanos, stays in memory. After an error the state must not be used, because a part of the rows is in
// memory and in the file.
func (s *State) ForgetMovedRows(newestFirst []ColdFile, nowUnixNanos int64) error {
	s.SetColdFiles(newestFirst)
	file := newestFirst[0]
	var part []byte
	for shard := range shardCount {
		var err error
		if part, err = file.AppendPart(part[:0], coldLeads, shard); err != nil {
			return err
		}
		leads := &s.leads[shard]
		forgetRows(s, &leads.rowShard, part, coldLeadBytes, func(inFile *Lead, unchanged bool) (stays bool) {
			return leads.forgetLeadLocked(inFile, unchanged, nowUnixNanos)
		})
		if part, err = file.AppendPart(part[:0], coldDuplicates, shard); err != nil {
			return err
		}
		forgetRows(s, &s.duplicates[shard], part, coldDuplicateBytes, nil)
		if part, err = file.AppendPart(part[:0], coldKeys, shard); err != nil {
			return err
		}
		forgetRows(s, &s.idempotency[shard], part, coldKeyBytes, nil)
	}
	return nil
}

// forgetRows removes the encoded rows of a part from a shard. It skips rows that have changed. keep, which may be
// nil, is called for each row that memory has, and may keep it there.
func forgetRows[R comparable, P coldRow[R]](s *State, shard *rowShard[R, P], part []byte, rowBytes int, keep func(inFile P, unchanged bool) (stays bool)) {
	for some := range slices.Chunk(part, removalsPerLock*rowBytes) {
		s.applying.Lock()
		shard.mu.Lock()
		for encoded := range slices.Chunk(some, rowBytes) {
			var inFile R
			P(&inFile).decodeCold(encoded)
			_, position, found := shard.table.findWithExpired(P(&inFile).key())
			if !found {
				continue
			}
			unchanged := *shard.table.rows.at(position) == inFile
			if stays := keep != nil && keep(&inFile, unchanged); unchanged && !stays {
				shard.table.removeCountedRow(position)
			}
		}
		shard.mu.Unlock()
		s.applying.Unlock()
	}
}

// forgetLeadLocked reports whether a lead stays in memory that a cold file has too, because it has changed or is to
// change. It then records the version in the file.
func (shard *leadShard) forgetLeadLocked(inFile *Lead, unchanged bool, nowUnixNanos int64) (stays bool) {
	if stays = !unchanged || shard.inUseUntil[inFile.ID] > nowUnixNanos; stays {
		shard.setReplacedLocked(inFile)
	} else {
		delete(shard.replaced, inFile.ID)
	}
	return stays
}

// CheckColdRows compares the rows in memory and in the cold files with the sums of State.Hash, which come from the
// metas of the files. It reads all files, and no other goroutine uses the state.
func (s *State) CheckColdRows() error {
	var sums rowHashSums
	for shard := range shardCount {
		for _, err := range []error{
			addEffectiveRows(s, &sums, coldLeads, shard, coldLeadBytes, &s.leads[shard].table),
			addEffectiveRows(s, &sums, coldDuplicates, shard, coldDuplicateBytes, &s.duplicates[shard].table),
			addEffectiveRows(s, &sums, coldKeys, shard, coldKeyBytes, &s.idempotency[shard].table),
		} {
			if err != nil {
				return err
			}
		}
	}
	now := unixSecondsRoundedDown(s.at)
	if got, want := sums.sumOfUnexpired(now), s.rowSums.sumOfUnexpired(now); got != want {
		return fmt.Errorf("the rows in memory and in the cold files have the sum %016x, but the state's hash counts %016x", got, want)
	}
	return nil
}

// addEffectiveRows adds the hashes of the rows of a table, and of those in the cold files that neither the table nor a
// newer file has.
func addEffectiveRows[R any, P coldRow[R]](s *State, sums *rowHashSums, kind, shard, rowBytes int, t *table[R, P]) error {
	seen := make(map[[16]byte]struct{}, t.rows.n)
	add := func(row P) {
		if _, known := seen[*row.key()]; !known {
			seen[*row.key()] = struct{}{}
			sums.add(row.expiryUnixSeconds(), row.contentHash())
		}
	}
	for position := range t.rows.n {
		add(t.rows.at(position))
	}
	for _, file := range s.ColdFiles() {
		part, err := file.AppendPart(nil, kind, shard)
		if err != nil {
			return err
		}
		for encoded := range slices.Chunk(part, rowBytes) {
			var row R
			P(&row).decodeCold(encoded)
			add(&row)
		}
	}
	return nil
}

// NewRowRebuild returns an empty state that applies events to rows alone: to leads, keys, duplicate values and
// auctions. A replay of the log's whole history into it rebuilds the rows of lost cold files. firstSeq is the
// first entry of the history.
func NewRowRebuild(firstSeq uint64) *State {
	s := New()
	s.seq, s.loaded = firstSeq-1, maxSeq
	for i := range s.outboxes.shards {
		s.outboxes.shards[i].loaded = maxSeq
	}
	return s
}

const maxSeq = 1<<64 - 1

// AddRebuiltRows moves the rows of a row rebuild that this state lacks to this state. Both have applied the same
// entries, and no other goroutine uses them.
func (s *State) AddRebuiltRows(rebuilt *State) (added int) {
	now := unixSecondsRoundedDown(s.at)
	for i := range shardCount {
		added += addMissingRows(&s.leads[i].table, &rebuilt.leads[i].table, now)
		added += addMissingRows(&s.duplicates[i].table, &rebuilt.duplicates[i].table, now)
		added += addMissingRows(&s.idempotency[i].table, &rebuilt.idempotency[i].table, now)
		rebuilt.leads[i], rebuilt.duplicates[i], rebuilt.idempotency[i], rebuilt.auctions[i] = leadShard{}, duplicateShard{}, idempotencyShard{}, auctionShard{}
	}
	return added
}

func addMissingRows[R any, P row[R]](to, from *table[R, P], nowUnixSeconds uint32) (added int) {
	for position := range from.rows.n {
		row := from.rows.at(position)
		if _, _, found := to.findWithExpired(P(row).key()); !found && P(row).expiryUnixSeconds() > nowUnixSeconds {
			to.put(row, nowUnixSeconds)
			added++
		}
	}
	return added
}
