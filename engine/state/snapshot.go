package state

import (
	"encoding/binary"
	"fmt"
	"io"

	"pingpost/engine/market"
)

// A snapshot is a header and then sections, one a shard and one for the ledger
// (all that is neither a row nor in an outbox). Each section has the position of the log it was
// copied at; loading applies to each only what came later.
//
//	header   "PPST" | version u8 | shards uvarint
//	section  kind u8 | shard uvarint | stamp uvarint | at varint | length u32 | body
//
// A shard's rows are written in the order they lie in, with the sweep's cursor and bounds,
// so that what is swept later is the same as without the snapshot.
const (
	snapshotMagic   = "PPST"
	snapshotVersion = 7
	oldestSnapshot  = 4 // that is still read

	versionSealed  = 5 // posts have slots, the ledger those that are used and erased
	versionHistory = 6 // the ledger has the configurations of before, and who loaded a list
	versionStaffed = 7 // the ledger has operators, and their tokens

	sectionLeads    = 1
	sectionDups     = 2
	sectionKeys     = 3
	sectionLedger   = 4
	sectionAuctions = 5
	sectionOutboxes = 6

	sectionsAShard = 5
)

// WriteSnapshot writes the state to w while it goes on changing. It returns
// the oldest and the newest position among the sections: the log is needed from
// after oldest on, and the state that is loaded is whole once newest is applied.
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
	var hooks []hookRow
	for i := range shards {
		out.write(s, sectionLeads, i, func(body *writer) func() { return s.leads[i].copyTo(body, &leads) })
		out.write(s, sectionDups, i, func(body *writer) func() { return copyTable(&s.dups[i].table, body, &dups) })
		out.write(s, sectionKeys, i, func(body *writer) func() { return copyTable(&s.keys[i].table, body, &keys) })
		out.write(s, sectionAuctions, i, func(body *writer) func() { return copyTable(&s.auctions[i].table, body, &auctions) })
		out.write(s, sectionOutboxes, i, func(body *writer) func() { return s.outboxes.shards[i].copyTo(body, &hooks) })
	}
	return out.oldest, out.newest, out.err
}

// sectionWriter writes sections and keeps the range of their stamps.
type sectionWriter struct {
	w              io.Writer
	body           writer
	head           []byte
	oldest, newest uint64
	err            error
}

// write copies a section while Apply is excluded; what copying returns is run
// after, to encode the copy.
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
	cursor, soonest, passed := t.cursor, t.soonest, t.passed
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
	open := make([]*Post, 0, len(shard.posts))
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

// Load fills an empty state from a snapshot. The log is to be replayed from
// after Position on.
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

// sectionAt is the section that WriteSnapshot writes as the i-th.
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
		post := new(Post)
		if post.read(body); body.err != nil {
			return
		}
		if shard.posts == nil {
			shard.posts = make(map[market.LeadID]*Post)
		}
		shard.posts[post.Lead] = post
		if post.Unknown {
			s.countUnknown(&post.Sale, 1)
		}
	}
}

// rowLeast is a lower bound of a row's bytes in a section: two identifiers. It
// keeps a damaged count from asking for memory that no file could fill.
const rowLeast = 32

func loadTable[R any, P rowCodec[R]](t *table[R, P], body *reader) {
	cursor := body.uint()
	t.soonest, t.passed = uint32(body.uint()), uint32(body.uint())
	n := body.count()
	if n*rowLeast > len(body.buf) {
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
