package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"pingpost/engine/market"
)

// A snapshot is a header and then sections: one for each shard, and one for the ledger
// (all that is neither a row nor in an outbox). Each section has the position of the log it was
// copied at; loading applies to each only what came later.
//
//	header   "PPST" | version u8 | shards uvarint
//	section  kind u8 | shard uvarint | stamp uvarint | at varint | length u32 | body
//
// A shard's rows keep their order, with the sweep's cursor and bounds, so that later
// sweeps are the same as without the snapshot.
const (
	snapshotMagic   = "PPST"
	snapshotVersion = 8
	oldestSnapshot  = 4 // the oldest version that this program reads

	versionSealed  = 5 // posts have slots; the ledger has used and erased slots
	versionHistory = 6 // the ledger has earlier configurations, and the operators who loaded lists
	versionStaffed = 7 // the ledger has operators and their tokens
	versionTrusted = 8 // posts record whether a refusal of a repeat counts

	sectionLeads    = 1
	sectionDups     = 2
	sectionKeys     = 3
	sectionLedger   = 4
	sectionAuctions = 5
	sectionOutboxes = 6

	sectionsAShard = 5
)

// WriteSnapshot writes the state to w while Apply continues. It returns the oldest and the
// newest position of the sections. A reader needs the log after oldest, and the loaded
// state is complete once newest is applied.
func (s *State) WriteSnapshot(w io.Writer) (oldest, newest uint64, err error) {
	header := append([]byte(snapshotMagic), snapshotVersion)
	if _, err := w.Write(binary.AppendUvarint(header, shards)); err != nil {
		return 0, 0, err
	}
	out := sectionWriter{w: w}
	out.write(s, sectionLedger, 0, func(body *writer) func() { s.writeLedger(body); return nil })
	var leads []Lead
	var dups []dupRow
	var keys []keyRow
	var auctions []AuctionRow
	var hooks []webhookRow
	for i := range shards {
		out.write(s, sectionLeads, i, func(body *writer) func() { return s.leads[i].copyTo(body, &leads) })
		out.write(s, sectionDups, i, func(body *writer) func() { return copyTable(&s.dups[i].table, body, &dups) })
		out.write(s, sectionKeys, i, func(body *writer) func() { return copyTable(&s.keys[i].table, body, &keys) })
		out.write(s, sectionAuctions, i, func(body *writer) func() { return copyTable(&s.auctions[i].table, body, &auctions) })
		out.write(s, sectionOutboxes, i, func(body *writer) func() { return s.outboxes.shards[i].copyTo(body, &hooks) })
	}
	return out.oldest, out.newest, out.err
}

// sectionWriter writes sections and tracks the range of their stamps.
type sectionWriter struct {
	w              io.Writer
	body           writer
	head           []byte
	oldest, newest uint64
	err            error
}

// write copies a section while Apply is excluded. copying returns the function that
// encodes the copy afterwards, or nil.
func (o *sectionWriter) write(s *State, kind byte, shard int, copying func(*writer) func()) {
	if o.err != nil {
		return
	}
	o.body.buf = o.body.buf[:0]
	s.applying.Lock()
	encode := copying(&o.body)
	stamp, at := s.seq, s.at
	s.applying.Unlock()
	if encode != nil {
		encode()
	}
	if o.head == nil || stamp < o.oldest {
		o.oldest = stamp
	}
	o.newest = max(o.newest, stamp)
	o.head = append(o.head[:0], kind)
	o.head = binary.AppendUvarint(o.head, uint64(shard))
	o.head = binary.AppendUvarint(o.head, stamp)
	o.head = binary.AppendVarint(o.head, at)
	o.head = binary.LittleEndian.AppendUint32(o.head, uint32(len(o.body.buf)))
	if _, o.err = o.w.Write(o.head); o.err == nil {
		_, o.err = o.w.Write(o.body.buf)
	}
}

// rowCodec is a row that a snapshot can hold.
type rowCodec[R any] interface {
	row[R]
	write(*writer)
	read(*reader)
}

func copyTable[R any, P rowCodec[R]](t *table[R, P], body *writer, scratch *[]R) func() {
	*scratch = t.rows.appendTo((*scratch)[:0])
	cursor, soonest, passed := t.cursor, t.soonest, t.nextSoonest
	return func() {
		body.uint(uint64(cursor))
		body.uint(uint64(soonest))
		body.uint(uint64(passed))
		body.uint(uint64(len(*scratch)))
		for i := range *scratch {
			P(&(*scratch)[i]).write(body)
		}
	}
}

func (shard *leadShard) copyTo(body *writer, scratch *[]Lead) func() {
	encode := copyTable(&shard.table, body, scratch)
	open := make([]*OpenPost, 0, len(shard.posts))
	for _, post := range shard.posts {
		open = append(open, post)
	}
	return func() {
		encode()
		body.uint(uint64(len(open)))
		for _, post := range open {
			post.write(body)
		}
	}
}

// Load fills an empty state from a snapshot. The caller then replays the log after
// Position.
func (s *State) Load(r io.Reader) (newest uint64, err error) {
	in := sectionReader{r: r}
	if err := in.header(); err != nil {
		return 0, err
	}
	for i := range sectionsAShard*shards + 1 {
		if err := in.next(); err != nil {
			return 0, err
		}
		if kind, shard := sectionAt(i); in.kind != kind || in.shard != shard {
			return 0, fmt.Errorf("a snapshot has section %d of shard %d where section %d of shard %d belongs", in.kind, in.shard, kind, shard)
		}
		if err := s.loadSection(&in); err != nil {
			return 0, fmt.Errorf("cannot load a snapshot's section %d of shard %d: %w", in.kind, in.shard, err)
		}
		if i == 0 || in.stamp < s.seq {
			s.seq, s.at = in.stamp, in.at
		}
		newest = max(newest, in.stamp)
	}
	return newest, nil
}

// sectionAt returns the section that WriteSnapshot writes as the i-th.
func sectionAt(i int) (kind byte, shard int) {
	if i == 0 {
		return sectionLedger, 0
	}
	kinds := [sectionsAShard]byte{sectionLeads, sectionDups, sectionKeys, sectionAuctions, sectionOutboxes}
	return kinds[(i-1)%sectionsAShard], (i - 1) / sectionsAShard
}

func (s *State) loadSection(in *sectionReader) error {
	body := reader{buf: in.body, version: in.version}
	switch in.kind {
	case sectionLedger:
		s.readLedger(&body)
		s.loaded = in.stamp
	case sectionLeads:
		shard := &s.leads[in.shard]
		shard.loaded = in.stamp
		loadTable(&shard.table, &body)
		s.loadPosts(shard, &body)
	case sectionDups:
		s.dups[in.shard].loaded = in.stamp
		loadTable(&s.dups[in.shard].table, &body)
	case sectionKeys:
		s.keys[in.shard].loaded = in.stamp
		loadTable(&s.keys[in.shard].table, &body)
	case sectionAuctions:
		s.auctions[in.shard].loaded = in.stamp
		loadTable(&s.auctions[in.shard].table, &body)
	case sectionOutboxes:
		s.outboxes.shards[in.shard].loaded = in.stamp
		s.outboxes.loadShard(in.shard, &body)
	}
	if len(body.buf) > 0 {
		body.fail()
	}
	return body.err
}

func (s *State) loadPosts(shard *leadShard, body *reader) {
	for range body.count() {
		post := new(OpenPost)
		if post.read(body); body.err != nil {
			return
		}
		if shard.posts == nil {
			shard.posts = make(map[market.LeadID]*OpenPost)
		}
		shard.posts[post.Lead] = post
		if post.Exhausted {
			s.countUnknown(&post.Sale, 1)
		}
	}
}

// minRowBytes is a lower bound of a row's size in a section: two identifiers. It keeps a
// damaged count from allocating memory that no file could fill.
const minRowBytes = 32

func loadTable[R any, P rowCodec[R]](t *table[R, P], body *reader) {
	cursor := body.uint()
	t.soonest, t.nextSoonest = uint32(body.uint()), uint32(body.uint())
	n := body.count()
	if n*minRowBytes > len(body.buf) {
		body.fail()
		return
	}
	t.cursor = int(min(cursor, uint64(n)))
	for range n {
		var empty R
		added := P(t.rows.push(&empty))
		added.read(body)
		t.sum += added.digest()
	}
	if body.err != nil || n == 0 {
		return
	}
	size := 8
	for (n+1)*4 > size*3 {
		size *= 2
	}
	t.reindex(size)
}

// sectionReader reads a snapshot's sections in order.
type sectionReader struct {
	r     io.Reader
	kind  byte
	shard int
	stamp uint64
	at    int64
	body  []byte
	one   [1]byte

	version byte // of the snapshot
}

// maxSection bounds a section's body.
const maxSection = 1 << 30

// ReadByte reads one byte, for the variable-length numbers of a section's head.
func (in *sectionReader) ReadByte() (byte, error) {
	_, err := io.ReadFull(in.r, in.one[:])
	return in.one[0], err
}

func (in *sectionReader) header() error {
	var head [5]byte
	if _, err := io.ReadFull(in.r, head[:]); err != nil {
		return fmt.Errorf("cannot read a snapshot's header: %w", err)
	}
	if string(head[:4]) != snapshotMagic {
		return errors.New("this is not a snapshot of an exchange's state")
	}
	if in.version = head[4]; in.version < oldestSnapshot || in.version > snapshotVersion {
		return fmt.Errorf("this snapshot is of version %d, this program knows %d to %d; run the program that wrote it", in.version, oldestSnapshot, snapshotVersion)
	}
	count, err := binary.ReadUvarint(in)
	if err != nil || count != shards {
		return fmt.Errorf("this snapshot has %d shards, this program has %d", count, shards)
	}
	return nil
}

func (in *sectionReader) next() error {
	kind, err := in.ReadByte()
	if err != nil {
		return fmt.Errorf("a snapshot ends before its last section: %w", err)
	}
	shard, err1 := binary.ReadUvarint(in)
	stamp, err2 := binary.ReadUvarint(in)
	at, err3 := binary.ReadVarint(in)
	var length [4]byte
	_, err4 := io.ReadFull(in.r, length[:])
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return fmt.Errorf("cannot read a snapshot's section: %w", err)
	}
	size := binary.LittleEndian.Uint32(length[:])
	if shard >= shards || size > maxSection {
		return fmt.Errorf("a snapshot's section is out of bounds (shard %d, %d bytes)", shard, size)
	}
	in.kind, in.shard, in.stamp, in.at = kind, int(shard), stamp, at
	return in.fill(int(size))
}

// fill reads a section's body in steps, so that a damaged length allocates no more memory
// than there are bytes.
func (in *sectionReader) fill(size int) error {
	const step = 1 << 20
	in.body = in.body[:0]
	for len(in.body) < size {
		have := len(in.body)
		in.body = append(in.body, make([]byte, min(step, size-have))...)
		if _, err := io.ReadFull(in.r, in.body[have:]); err != nil {
			return fmt.Errorf("a snapshot's section is cut short: %w", err)
		}
	}
	return nil
}
