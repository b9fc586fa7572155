package state

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// collidingKey returns one of few keys, several of which have the same home slot.
func collidingKey(n int) (key [16]byte) {
	key[0] = byte(n)
	key[7] = byte(n%2) << 7 // two tags
	binary.LittleEndian.PutUint32(key[8:], uint32(n/3*5))
	return key
}

// check returns an error if index, rows and sum of a table disagree.
func (t *table[R, P]) check() error {
	taken := 0
	seen := make([]bool, t.rows.n)
	for _, entry := range t.index {
		if entry == 0 {
			continue
		}
		taken++
		named := int(entry) & (len(t.index) - 1)
		if named == 0 || named > t.rows.n || seen[named-1] {
			return fmt.Errorf("the index has row %d of %d, or has it twice", named-1, t.rows.n)
		}
		seen[named-1] = true
		if key := P(t.rows.at(named - 1)).key(); t.tag(key)|uint32(named) != entry {
			return fmt.Errorf("row %d has another key's tag", named-1)
		}
	}
	var sum uint64
	for position := range t.rows.n {
		sum += P(t.rows.at(position)).contentHash()
		if soonest := P(t.rows.at(position)).expiryUnixSeconds(); soonest < t.soonest {
			return fmt.Errorf("row %d expires at %d, before the soonest, %d: the sweep would pass it over", position, soonest, t.soonest)
		}
		if _, found, ok := t.findWithExpired(P(t.rows.at(position)).key()); !ok || found != position {
			return fmt.Errorf("row %d is not reached from its home", position)
		}
	}
	size := len(t.index)
	switch {
	case taken != t.rows.n:
		return fmt.Errorf("%d rows, %d entries", t.rows.n, taken)
	case size&(size-1) != 0, taken*4 > size*3:
		return fmt.Errorf("%d rows in an index of %d", taken, size)
	case t.sums != nil && sum != t.sums.sumOfAll():
		return fmt.Errorf("the sum of digests is off by %d", t.sums.sumOfAll()-sum)
	}
	return nil
}

func (r *rowHashSums) sumOfAll() uint64 {
	sum := r.never
	for _, day := range r.days {
		if day != nil {
			sum += day.total
		}
	}
	return sum
}

// tableModel is a table as a map. Expired rows may still be in the table or not.
type tableModel map[[16]byte]idempotencyRow

func (m tableModel) compare(t *table[idempotencyRow, *idempotencyRow], now uint32) error {
	for key, want := range m {
		got := t.get(&key, now)
		switch {
		case want.Until <= now && got != nil:
			return fmt.Errorf("found the expired row %x", key)
		case want.Until > now && (got == nil || *got != want):
			return fmt.Errorf("%x is %+v, want %+v", key, got, want)
		}
	}
	for i := range t.rows.n {
		if row := t.rows.at(i); m[row.Key] != *row {
			return fmt.Errorf("row %d is %+v, which was never put", i, *row)
		}
	}
	return nil
}

func TestTableMatchesMapWithExpiry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := table[idempotencyRow, *idempotencyRow]{sums: new(rowHashSums)}
		model := tableModel{}
		now := uint32(1000)
		keys := rapid.SampledFrom([]int{4, 40, 255}).Draw(t, "keys")
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			n := rapid.IntRange(0, keys).Draw(t, "key")
			key := collidingKey(n)
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			default:
				row := idempotencyRow{Key: key, Fingerprint: uint64(n), Until: now + uint32(rapid.IntRange(0, 60).Draw(t, "life"))}
				rows.put(&row, now)
				model[key] = row
			case 0:
				_, there := model[key]
				until := now + uint32(rapid.IntRange(0, 60).Draw(t, "new life"))
				changed := rows.editRow(&key, func(k *idempotencyRow) { k.Fingerprint, k.Until = k.Fingerprint+1000, until })
				if changed && !there {
					t.Fatal("changed a missing row")
				}
				if row := model[key]; changed {
					row.Fingerprint, row.Until = row.Fingerprint+1000, until
					model[key] = row
				} else if there && row.Until > now {
					t.Fatal("an existing row was not changed")
				} else {
					delete(model, key)
				}
			case 1:
				if _, position, ok := rows.findWithExpired(&key); ok {
					rows.removeRow(position)
				}
				delete(model, key)
			case 3:
				rows.prefetchForPut(&key) // has no effect on rows
			case 2:
				now += uint32(rapid.IntRange(0, 30).Draw(t, "later"))
			}
			if err := rows.check(); err != nil {
				t.Fatal(err)
			}
			if err := model.compare(&rows, now); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A change of a swept row must not bring it back.
func TestTableSweepsExpiredRows(t *testing.T) {
	var rows table[idempotencyRow, *idempotencyRow]
	put := func(n int, until, now uint32) { rows.put(&idempotencyRow{Key: collidingKey(n), Until: until}, now) }
	for n := range 100 {
		put(n, 10, 0)
	}
	if rows.rows.n != 100 {
		t.Fatalf("%d rows of 100 before any expired", rows.rows.n)
	}
	for n := range 100 {
		put(100+n, 30, 20)
	}
	if err := rows.check(); err != nil {
		t.Fatal(err)
	}
	if got := rows.rows.n; got != 100 {
		t.Errorf("%d rows after 100 expired and 100 were put, want 100", got)
	}
	key := collidingKey(3)
	if rows.get(&key, 20) != nil || rows.editRow(&key, func(*idempotencyRow) {}) {
		t.Error("found a swept row")
	}
}

func TestExpiredLeadsAndAuctionsLeaveMemory(t *testing.T) {
	x := newTestExchange()
	for round := range 2 {
		for n := range 100 {
			x.logAndApply(&event.LeadDecided{Lead: market.LeadID{byte(n), byte(round)}, Keep: x.at + day, Reason: market.ReasonNoBuyer})
			x.logAndApply(&event.PingAuctionCompleted{Auction: market.AuctionID{byte(n)}, Name: [16]byte{byte(n + 1), byte(round)}, Keep: x.at + day})
		}
		if leads, auctions := x.LeadCountWithExpired(), x.AuctionCountWithExpired(); leads < 100 || leads > 101 || auctions < 100 || auctions > 101 {
			t.Errorf("round %d: %d leads and %d auctions, want 100", round, leads, auctions)
		}
		x.at += 2 * day
	}
}

func TestTableReleasesMemory(t *testing.T) {
	var rows table[idempotencyRow, *idempotencyRow]
	key := func(n int) (k [16]byte) {
		binary.LittleEndian.PutUint64(k[4:], uint64(n)*0x9e3779b97f4a7c15)
		return k
	}
	for n := range 10_000 {
		rows.put(&idempotencyRow{Key: key(n), Until: 10}, 0)
	}
	for n := range 9000 {
		rows.put(&idempotencyRow{Key: key(20_000 + n%10), Until: 1000}, 100)
	}
	if err := rows.check(); err != nil {
		t.Fatal(err)
	}
	if rows.rows.n != 10 || rows.rows.rowCapacity() > 2*chunkRows || len(rows.index) > 128 {
		t.Errorf("%d rows, capacity for %d, an index of %d", rows.rows.n, rows.rows.rowCapacity(), len(rows.index))
	}
}

// A loaded table has its rows in the same order, and its sweep continues at the same row.
func TestSnapshotKeepsRowOrderAndSweep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows table[idempotencyRow, *idempotencyRow]
		now := uint32(1000)
		step := func(tables ...*table[idempotencyRow, *idempotencyRow]) {
			n := rapid.IntRange(0, 60).Draw(t, "key")
			key, until := collidingKey(n), now+uint32(rapid.IntRange(0, 40).Draw(t, "life"))
			remove := rapid.IntRange(0, 4).Draw(t, "remove") == 0
			for _, table := range tables {
				if _, position, ok := table.findWithExpired(&key); ok && remove {
					table.removeRow(position)
				} else {
					table.put(&idempotencyRow{Key: key, Until: until}, now)
				}
			}
			now += uint32(rapid.IntRange(0, 3).Draw(t, "later"))
		}
		for range rapid.IntRange(0, 100).Draw(t, "before") {
			step(&rows)
		}
		var body snapshotSectionCodec
		var scratch []idempotencyRow
		copyTableForEncoding(&rows, &body, &scratch, func() {})()
		var shard idempotencyShard
		from := snapshotSectionCodec{decoding: true, buf: body.buf}
		shard.loadRows(0, &from)
		loaded := shard.table
		if from.err != nil || len(from.buf) > 0 {
			t.Fatalf("%v, %d bytes left", from.err, len(from.buf))
		}
		for range 100 {
			if err := loaded.check(); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(loaded.rows.appendRowsTo(nil), rows.rows.appendRowsTo(nil)) {
				t.Fatalf("after the snapshot %+v\nwithout it %+v", loaded.rows.appendRowsTo(nil), rows.rows.appendRowsTo(nil))
			}
			step(&rows, &loaded)
		}
	})
}

// A snapshot keeps all fields of a row, and an encoded row has at least minRowBytes, by which
// loading limits a damaged count.
func TestRowRoundTrip(t *testing.T) {
	t.Run("lead", checkRowRoundTrip[Lead])
	t.Run("auction", checkRowRoundTrip[AuctionRow])
	t.Run("key", checkRowRoundTrip[idempotencyRow])
	t.Run("duplicate", checkRowRoundTrip[duplicateCheckRow])
	t.Run("webhook", checkRowRoundTrip[webhookRow])
}

func checkRowRoundTrip[R comparable, P interface {
	*R
	encodeOrDecodeSnapshot(c *snapshotSectionCodec)
}](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.Make[R]().Draw(t, "row")
		if webhook, ok := any(&row).(*webhookRow); ok {
			webhook.next, webhook.queuePosition = 0, 0 // loading computes them
		}
		var body snapshotSectionCodec
		P(&row).encodeOrDecodeSnapshot(&body)
		var back R
		from := snapshotSectionCodec{decoding: true, buf: body.buf}
		if P(&back).encodeOrDecodeSnapshot(&from); from.err != nil || len(from.buf) > 0 || back != row || len(body.buf) < minRowBytes {
			t.Fatalf("%v: %+v of %d bytes, want %+v", from.err, back, len(body.buf), row)
		}
	})
}

// Every field that events determine counts in the digest.
func TestDigestsCoverEveryField(t *testing.T) {
	for name, blind := range map[string][]string{
		"Lead":               fieldsNotInDigest((*Lead).contentHash),
		"idempotencyRow":     fieldsNotInDigest((*idempotencyRow).contentHash),
		"duplicateRow":       fieldsNotInDigest((*duplicateCheckRow).contentHash),
		"AuctionRow":         fieldsNotInDigest((*AuctionRow).contentHash),
		"OpenPost":           fieldsNotInDigest((*UnfinishedPost).contentHash),
		"User":               fieldsNotInDigest((*OperatorUser).contentHash),
		"Invitation":         fieldsNotInDigest((*Invitation).contentHash),
		"SecondFactor":       fieldsNotInDigest((*SecondFactor).contentHash),
		"APIToken":           fieldsNotInDigest((*APIToken).contentHash),
		"credentialIdentity": fieldsNotInDigest((*existedCredentialKey).contentHash),
		"Credential":         fieldsNotInDigest((*Credential).contentHash),
		"webhookRow":         fieldsNotInDigest(func(r *webhookRow) uint64 { return r.contentHash(1) }),
	} {
		want := map[string][]string{"Credential": {".LastUse"}, "webhookRow": {".next", ".queuePosition"}}[name]
		if !slices.Equal(blind, want) {
			t.Errorf("%s: the digest does not cover %v, want %v", name, blind, want)
		}
	}
	if webhook := new(webhookRow); webhook.contentHash(1) == webhook.contentHash(2) {
		t.Error("the digest of a webhook does not cover its supplier")
	}
}

func TestDigestsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	note := func(d runningHash, what string) {
		if other, ok := seen[d.sum()]; ok {
			t.Errorf("%s and %s have one digest", what, other)
		}
		seen[d.sum()] = what
	}
	for kind := range uint64(17) {
		for a := range uint64(16) {
			note(newRunningHash(kind).addWord(a), fmt.Sprintf("%d: %d", kind, a))
			for b := range uint64(16) {
				note(newRunningHash(kind).addWord(a).addWord(b), fmt.Sprintf("%d: %d %d", kind, a, b))
			}
		}
	}
	for n := range 20 {
		note(newRunningHash(20).addBytes(make([]byte, n)), fmt.Sprintf("%d zero bytes", n))
	}
	if len(slices.Collect(maps.Keys(seen))) != 17*16*17+20 {
		t.Errorf("%d digests", len(seen))
	}
}
