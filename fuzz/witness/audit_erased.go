package witness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// forgot: of whom the exchange has said that nobody can know any more who he was, the log
// says so too.
func (p *Picture) forgot() (found findings) {
	for _, id := range p.forgotten {
		if e := p.book.leads[id]; e == nil || !e.erased {
			found.add("that lead %s was erased was acknowledged and is lost", id)
		}
	}
	return found
}

// erase enters that persons were erased: each once, by the slot of his lead, and none
// whose lead has yet to come to its buyer.
func (b *book) erase(f *fact) {
	if len(f.Leads) != len(f.Slots) {
		b.breach("%d leads are erased in %d slots", len(f.Leads), len(f.Slots))
		return
	}
	for i, id := range f.Leads {
		e := b.leads[id]
		switch {
		case e == nil:
			b.breach("lead %s is erased, and there is none", id)
			continue
		case e.erased:
			b.breach("lead %s is erased twice", id)
		case e.slot != f.Slots[i]:
			b.breach("lead %s is erased in slot %d, and is in slot %d", id, f.Slots[i], e.slot)
		case e.standing == open, e.standing == pending:
			b.breach("lead %s is erased on its way to %s", id, e.buyer)
		}
		e.erased = true
	}
}

// Of a key file.
const (
	keySize = 32
	perFile = 1 << 16
)

// keysAt holds the keys of leads in a data directory against the log: those of erased
// leads are gone, and no others. In a copy of an earlier time, too, all are gone that the
// newest log says of.
func (b *book) keysAt(dir string) (found findings) {
	files := map[uint64][]byte{}
	used := map[uint64]string{}
	for id, e := range b.leads {
		if other, twice := used[e.slot]; twice || e.slot == 0 {
			found.add("the leads %s and %s are both sealed in slot %d", id, other, e.slot)
			continue
		}
		used[e.slot] = id
		first := (e.slot-1)/perFile*perFile + 1
		keys, read := files[first]
		if !read {
			var err error
			if keys, err = os.ReadFile(filepath.Join(dir, "keys", "leads", fmt.Sprintf("%020d", first))); err != nil {
				found.add("the keys of leads cannot be read: %v", err)
			}
			files[first] = keys
		}
		at := (e.slot - first) * keySize
		if uint64(len(keys)) < at+keySize {
			found.add("there is no key of lead %s in %s", id, dir)
			continue
		}
		if gone := bytes.Equal(keys[at:at+keySize], make([]byte, keySize)); gone != e.erased {
			found.add("in %s the key of lead %s is gone: %t, and by the log it is erased: %t", dir, id, gone, e.erased)
		}
	}
	return found
}
