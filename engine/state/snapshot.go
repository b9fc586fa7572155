package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"pingpost/engine/market"
)

// A snapshot is a header and then sections: one for each shard, and one for the global state
// (all state that is neither a row nor in an outbox). Each section has the log position of
// its copy. After loading, a section receives only the events after that position.
//
//	header   "PPST" | version u8 | shards uvarint
//	section  kind u8 | shard uvarint | stamp uvarint | at varint | length u32 | body
//
// A shard's rows keep their order, with the sweep's cursor and bounds, so that later
// sweeps are the same as without the snapshot.
const (
	snapshotMagic   = "PPST"
	snapshotVersion = 13
	oldestSnapshot  = 4 // the oldest version that this program reads

	versionSealed  = 5  // posts have slots; the global state has used and erased slots
	versionHistory = 6  // the global state has earlier configurations, and the operators who loaded lists
	versionUsers   = 7  // the global state has operators and their tokens
	versionTrusted = 8  // posts record whether a refusal of a repeat counts
	versionTeam    = 9  // the global state has invitations and second factors
	versionAlerts  = 10 // the global state has alerts
	versionReports = 11 // the global state has saved reports
	versionCold    = 12 // leads have the versions of loaded leads that cold files have
	versionEntries = 13 // the key of a cap can have the id of a filter set, or of an entry of the terms

	sectionLeads      = 1
	sectionDuplicates = 2
	sectionKeys       = 3
	sectionGlobal     = 4
	sectionAuctions   = 5
	sectionOutboxes   = 6

	sectionsPerShard = 5
)

// WriteSnapshot writes the state to w while Apply continues between the sections. The sections are
// copied at different log positions; oldestSectionSeq and newestSectionSeq are the first and the
// last of these positions. A start that loads the snapshot replays the log after oldestSectionSeq.
// The loaded state is complete once the event newestSectionSeq is applied. If move is not nil, it takes rows of
// closed leads, which the snapshot then lacks.
func (s *State) WriteSnapshot(w io.Writer, move *RowMove) (oldestSectionSeq, newestSectionSeq uint64, err error) {
	s.snapshotting.Lock()
	defer s.snapshotting.Unlock()
	header := append([]byte(snapshotMagic), snapshotVersion)
	if _, err := w.Write(binary.AppendUvarint(header, shardCount)); err != nil {
		return 0, 0, err
	}
	out := snapshotSectionWriter{w: w}
	out.writeSection(s, sectionGlobal, 0, s.copyGlobalStateWhileApplyIsBlocked)
	var leads []Lead
	var dups []duplicateCheckRow
	var keys []idempotencyRow
	var auctions []AuctionRow
	var hooks []webhookRow
	for i := range shardCount {
		out.writeSection(s, sectionLeads, i, func(body *snapshotSectionCodec) func() {
			return s.leads[i].copyWhileApplyIsBlocked(body, &leads, s.at, func(replaced map[market.LeadID]replacedColdLead) {
				leads = move.moveLeads(leads, replaced, out.stamp)
			})
		})
		out.writeSection(s, sectionDuplicates, i, func(body *snapshotSectionCodec) func() {
			return copyTableForEncoding(&s.duplicates[i].table, body, &dups, func() { dups = move.moveDuplicates(s, dups, out.stamp) })
		})
		out.writeSection(s, sectionKeys, i, func(body *snapshotSectionCodec) func() {
			return copyTableForEncoding(&s.idempotency[i].table, body, &keys, func() { keys = move.moveKeys(s, keys, out.stamp) })
		})
		out.writeSection(s, sectionAuctions, i, func(body *snapshotSectionCodec) func() {
			return copyTableForEncoding(&s.auctions[i].table, body, &auctions, func() {})
		})
		out.writeSection(s, sectionOutboxes, i, func(body *snapshotSectionCodec) func() {
			return s.outboxes.shards[i].copyWhileApplyIsBlocked(body, &hooks)
		})
	}
	if move != nil && out.err == nil {
		out.err = move.err
	}
	return out.oldest, out.newest, out.err
}

// snapshotSectionWriter writes the sections of a snapshot, and tracks the oldest and newest log position
// at which a section was copied.
type snapshotSectionWriter struct {
	w              io.Writer
	body           snapshotSectionCodec
	head           []byte
	oldest, newest uint64
	stamp          uint64 // log position of the present section
	err            error
}

// writeSection writes one section. It blocks Apply only while copySection copies the state.
// copySection may return encodeLater, which encodes the copy; writeSection calls it after Apply may
// continue.
func (o *snapshotSectionWriter) writeSection(s *State, kind byte, shard int, copySection func(*snapshotSectionCodec) (encodeLater func())) {
	if o.err != nil {
		return
	}
	o.body.buf, o.body.pieces = o.body.buf[:0], nil
	s.applying.Lock()
	encodeLater := copySection(&o.body)
	stamp, at := s.seq, s.at
	s.applying.Unlock()
	o.stamp = stamp
	if encodeLater != nil {
		encodeLater()
	}
	if o.head == nil || stamp < o.oldest {
		o.oldest = stamp
	}
	o.newest = max(o.newest, stamp)
	pieces, size := append(o.body.pieces, o.body.buf), 0
	for _, piece := range pieces {
		size += len(piece)
	}
	o.head = append(o.head[:0], kind)
	o.head = binary.AppendUvarint(o.head, uint64(shard))
	o.head = binary.AppendUvarint(o.head, stamp)
	o.head = binary.AppendVarint(o.head, at)
	o.head = binary.LittleEndian.AppendUint32(o.head, uint32(size))
	for _, part := range append([][]byte{o.head}, pieces...) {
		if _, err := o.w.Write(part); err != nil {
			o.err = err
			return
		}
	}
}

// snapshotRow is implemented by rows that can be written to a snapshot and read from it.
type snapshotRow[R any] interface {
	row[R]
	encodeOrDecodeSnapshot(*snapshotSectionCodec)
}

// copyTableForEncoding copies a table's rows into scratch, whose memory is reused. The result
// encodes the copy into body; writeSection calls it after Apply may continue. It calls moveRows before, which
// may take rows out of scratch.
func copyTableForEncoding[R any, P snapshotRow[R]](t *table[R, P], body *snapshotSectionCodec, scratch *[]R, moveRows func()) (encode func()) {
	*scratch = t.rows.appendRowsTo((*scratch)[:0])
	sweep := [...]uint64{uint64(t.cursor), uint64(t.soonest), uint64(t.nextSoonest)}
	return func() {
		moveRows()
		for _, value := range sweep {
			encodeOrDecodeUvarint(body, &value)
		}
		body.encodeOrDecodeCount(len(*scratch))
		for i := range *scratch {
			P(&(*scratch)[i]).encodeOrDecodeSnapshot(body)
		}
	}
}

// copyWhileApplyIsBlocked copies the shard's leads and open posts while Apply is blocked. The result
// encodes the copy into body. Posts are not copied, because Apply replaces them and never changes
// them. moveLeads may take leads out of scratch, and then takes them out of replaced.
func (shard *leadShard) copyWhileApplyIsBlocked(body *snapshotSectionCodec, scratch *[]Lead, nowUnixNanos int64, moveLeads func(replaced map[market.LeadID]replacedColdLead)) (encode func()) {
	replaced := shard.copyReplacedLeads(nowUnixNanos)
	encodeTable := copyTableForEncoding(&shard.table, body, scratch, func() { moveLeads(replaced) })
	open := make([]*UnfinishedPost, 0, len(shard.posts))
	for _, post := range shard.posts {
		open = append(open, post)
	}
	return func() {
		encodeTable()
		body.encodeOrDecodeCount(len(open))
		for _, post := range open {
			post.encodeOrDecodeSnapshot(body)
		}
		body.encodeOrDecodeCount(len(replaced))
		for id, of := range replaced {
			of.encodeOrDecodeSnapshot(body, &id)
		}
	}
}

// LoadSnapshot fills an empty state, which has the snapshot's cold files, from a snapshot. Its sections were copied
// at different log positions. The caller then replays the log after the oldest one, which Position returns.
// newestSectionSeq is the newest one: once the event newestSectionSeq is applied, the state is
// complete.
func (s *State) LoadSnapshot(r io.Reader) (newestSectionSeq uint64, err error) {
	in := snapshotSectionReader{r: r}
	if err := in.readMagicVersionAndShardCount(); err != nil {
		return 0, err
	}
	for _, file := range s.ColdFiles() {
		if err := s.rowSums.addEncoded(file.Meta()); err != nil {
			return 0, err
		}
	}
	loader := s.startRowLoader()
	newestSectionSeq, err = s.loadSections(&in, loader)
	if err := errors.Join(loader.wait(), err); err != nil {
		return 0, err
	}
	s.appliedSeconds.Store(unixSecondsRoundedDown(s.at))
	return newestSectionSeq, nil
}

// loadSections reads the sections in order. It gives those with only rows to the loader, and decodes the others.
func (s *State) loadSections(in *snapshotSectionReader, loader *rowLoader) (newestSectionSeq uint64, err error) {
	for i := range sectionsPerShard*shardCount + 1 {
		if err := in.nextSection(); err != nil {
			return 0, err
		}
		kind, shard := sectionAt(i)
		if in.kind != kind || in.shard != shard {
			return 0, fmt.Errorf("the state snapshot has a section of kind %d of shard %d instead of kind %d of shard %d (damaged? use the snapshot before this one)", in.kind, in.shard, kind, shard)
		}
		if kind == sectionDuplicates || kind == sectionKeys || kind == sectionAuctions {
			in.body = loader.load(in)
		} else if err := s.loadSection(in); err != nil {
			return 0, in.describe(err)
		}
		if i == 0 || in.stamp < s.seq {
			s.seq, s.at = in.stamp, in.at
		}
		newestSectionSeq = max(newestSectionSeq, in.stamp)
	}
	return newestSectionSeq, nil
}

// sectionAt returns the kind and the shard of the section at sectionIndex of a snapshot.
func sectionAt(sectionIndex int) (kind byte, shard int) {
	if sectionIndex == 0 {
		return sectionGlobal, 0
	}
	kinds := [sectionsPerShard]byte{sectionLeads, sectionDuplicates, sectionKeys, sectionAuctions, sectionOutboxes}
	return kinds[(sectionIndex-1)%sectionsPerShard], (sectionIndex - 1) / sectionsPerShard
}

// loadSection decodes one section into the state. It also records the section's log position, so
// that a replay skips the events that the section already contains.
func (s *State) loadSection(in *snapshotSectionReader) error {
	body := snapshotSectionCodec{decoding: true, buf: in.body, version: in.version}
	switch in.kind {
	case sectionGlobal:
		s.decodeGlobalState(&body)
		s.loaded = in.stamp
	case sectionLeads:
		s.leads[in.shard].loadRows(in.stamp, &body)
		s.loadUnfinishedPosts(&s.leads[in.shard], &body)
		if body.hasFieldsSinceVersion(versionCold) {
			s.loadReplacedLeads(&s.leads[in.shard], &body)
		}
	case sectionDuplicates:
		s.duplicates[in.shard].loadRows(in.stamp, &body)
	case sectionKeys:
		s.idempotency[in.shard].loadRows(in.stamp, &body)
	case sectionAuctions:
		s.auctions[in.shard].loadRows(in.stamp, &body)
	case sectionOutboxes:
		s.outboxes.shards[in.shard].loaded = in.stamp
		s.outboxes.loadOutboxShard(in.shard, &body)
	}
	if len(body.buf) > 0 {
		body.markDamaged()
	}
	return body.err
}

// loadUnfinishedPosts decodes the open posts of a shard, and counts those that wait for an operator.
func (s *State) loadUnfinishedPosts(shard *leadShard, body *snapshotSectionCodec) {
	for range body.encodeOrDecodeCount(0) {
		post := new(UnfinishedPost)
		if post.encodeOrDecodeSnapshot(body); body.err != nil {
			return
		}
		if shard.posts == nil {
			shard.posts = make(map[market.LeadID]*UnfinishedPost)
		}
		shard.posts[post.Lead] = post
		if post.Exhausted {
			s.addToUnknownDeliveryCount(&post.Sale, 1)
		}
	}
}

// snapshotSectionReader reads a snapshot's sections in order. Its fields describe the current section.
type snapshotSectionReader struct {
	r     io.Reader
	kind  byte
	shard int
	stamp uint64
	at    int64
	body  []byte
	one   [1]byte

	version byte // of the snapshot
}

// describe adds the section to an error.
func (in *snapshotSectionReader) describe(err error) error {
	return fmt.Errorf("cannot load the section of kind %d of shard %d of the state snapshot: %w", in.kind, in.shard, err)
}

// maxSectionBytes is the greatest accepted size of a section's body, in bytes.
const maxSectionBytes = 1 << 30

// ReadByte reads one byte. It lets package binary read the variable-length numbers of a section's
// head.
func (in *snapshotSectionReader) ReadByte() (byte, error) {
	_, err := io.ReadFull(in.r, in.one[:])
	return in.one[0], err
}

// readMagicVersionAndShardCount reads the snapshot's header. It rejects versions and shard counts that
// this program cannot load.
func (in *snapshotSectionReader) readMagicVersionAndShardCount() error {
	var head [5]byte
	if _, err := io.ReadFull(in.r, head[:]); err != nil {
		return fmt.Errorf("cannot read the header of the state snapshot: %w", err)
	}
	if string(head[:4]) != snapshotMagic {
		return errors.New("the file is not a snapshot of an exchange's state (damaged? use the snapshot before this one)")
	}
	if in.version = head[4]; in.version < oldestSnapshot || in.version > snapshotVersion {
		return fmt.Errorf("the state snapshot has version %d, but this program reads versions %d to %d; run the release that wrote it", in.version, oldestSnapshot, snapshotVersion)
	}
	count, err := binary.ReadUvarint(in)
	if err != nil {
		return fmt.Errorf("cannot read the number of shards of the state snapshot (truncated? use the snapshot before this one): %w", err)
	}
	if count != shardCount {
		return fmt.Errorf("the state snapshot has %d shards, but this program has %d; run the release that wrote it", count, shardCount)
	}
	return nil
}

// nextSection reads the next section's head and body into in.
func (in *snapshotSectionReader) nextSection() error {
	kind, err := in.ReadByte()
	if err != nil {
		return fmt.Errorf("the state snapshot ends before its last section (truncated? use the snapshot before this one): %w", err)
	}
	shard, err1 := binary.ReadUvarint(in)
	stamp, err2 := binary.ReadUvarint(in)
	at, err3 := binary.ReadVarint(in)
	var length [4]byte
	_, err4 := io.ReadFull(in.r, length[:])
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return fmt.Errorf("cannot read the header of a section of the state snapshot (truncated? use the snapshot before this one): %w", err)
	}
	size := binary.LittleEndian.Uint32(length[:])
	if shard >= shardCount || size > maxSectionBytes {
		return fmt.Errorf("a section of the state snapshot exceeds the limits (shard %d, %d bytes; damaged? use the snapshot before this one)", shard, size)
	}
	in.kind, in.shard, in.stamp, in.at = kind, int(shard), stamp, at
	return in.readBody(int(size))
}

// readBody reads the section's body of size bytes in steps of 1 MiB. A damaged size then
// allocates at most one step more than the file has.
func (in *snapshotSectionReader) readBody(size int) error {
	const step = 1 << 20
	in.body = in.body[:0]
	for len(in.body) < size {
		have := len(in.body)
		in.body = append(in.body, make([]byte, min(step, size-have))...)
		if _, err := io.ReadFull(in.r, in.body[have:]); err != nil {
			return fmt.Errorf("a section of the state snapshot is truncated (use the snapshot before this one): %w", err)
		}
	}
	return nil
}
