package leadkeys

import (
	"bytes"
	"errors"
	"testing"

	"pingpost/internal/must"
)

// Sealed data opens only unchanged, with its slot and its owner. Two seals of the same
// data differ.
func TestSealedOpensAsItselfAlone(t *testing.T) {
	s, _ := begin(t, t.TempDir(), 0, testFaults{})
	slot, key := take(t, s)
	other, _ := take(t, s)
	for _, plain := range [][]byte{nil, []byte("p"), bytes.Repeat([]byte("a person "), 5000)} {
		sealed := Seal([]byte("before"), slot, &key, owner(1), plain)
		if !bytes.HasPrefix(sealed, []byte("before")) || len(sealed) != len("before")+len(plain)+Overhead {
			t.Fatalf("%d bytes of %d", len(sealed), len(plain))
		}
		sealed = sealed[len("before"):]
		if got, err := s.Open([]byte("in "), slot, owner(1), sealed); err != nil || string(got) != "in "+string(plain) {
			t.Errorf("%q, %v", got, err)
		}
		if bytes.Equal(sealed, Seal(nil, slot, &key, owner(1), plain)) {
			t.Error("sealed twice it is the same")
		}
		if len(plain) > 3 && bytes.Contains(sealed, plain[:4]) {
			t.Error("it lies open")
		}
		refuse := func(what string, slot uint64, of [16]byte, sealed []byte) {
			t.Helper()
			if got, err := s.Open(nil, slot, of, sealed); err == nil || got != nil || errors.Is(err, ErrErased) {
				t.Errorf("%s: %q, %v", what, got, err)
			}
		}
		refuse("under another slot", other, owner(1), sealed)
		refuse("under no slot", 0, owner(1), sealed)
		refuse("as another's", slot, owner(2), sealed)
		for at := range min(len(sealed), 64) {
			refuse("cut", slot, owner(1), sealed[:at])
			flipped := bytes.Clone(sealed)
			flipped[at] ^= 1
			refuse("flipped", slot, owner(1), flipped)
		}
	}
}

// Every later program opens the data in an existing log.
func TestSealedIsFixed(t *testing.T) {
	key := Key{1, 2, 3}
	sealed := Seal(nil, 9, &key, owner(7), []byte("a person"))
	label := append([]byte("pingpost/contact/1"), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9)
	if plain, err := newAEAD(&key).Open(nil, sealed[:12], sealed[12:], label); err != nil || string(plain) != "a person" {
		t.Errorf("%q, %v", plain, err)
	}
}

func BenchmarkSeal(b *testing.B) {
	s, _ := begin(b, b.TempDir(), 0, testFaults{})
	plain, dst := make([]byte, 400), make([]byte, 0, 600)
	slot, key := take(b, s)
	b.ReportAllocs()
	for b.Loop() {
		dst = Seal(dst[:0], slot, &key, owner(1), plain)
	}
}

func BenchmarkOpen(b *testing.B) {
	s, _ := begin(b, b.TempDir(), 0, testFaults{})
	slot, key := take(b, s)
	sealed, dst := Seal(nil, slot, &key, owner(1), make([]byte, 400)), make([]byte, 0, 600)
	b.ReportAllocs()
	for b.Loop() {
		must.Value(s.Open(dst, slot, owner(1), sealed))(b)
	}
}
