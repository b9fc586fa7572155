package leadkeys

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"

	"pingpost/internal/must"
)

// TestSealedDataOpensOnlyUnchanged: opening also needs the slot and the owner. Two seals of the
// same data differ.
func TestSealedDataOpensOnlyUnchanged(t *testing.T) {
	s, _ := openWithFaults(t, t.TempDir(), 0, testFaults{})
	slot, key := mustNext(t, s)
	other, _ := mustNext(t, s)
	for _, plain := range [][]byte{nil, []byte("p"), bytes.Repeat([]byte("a person "), 5000)} {
		sealed := Seal([]byte("before"), slot, &key, owner(1), plain)
		if !bytes.HasPrefix(sealed, []byte("before")) || len(sealed) != len("before")+len(plain)+Overhead {
			t.Fatalf("sealed to %d bytes from %d, or the prefix is lost", len(sealed), len(plain))
		}
		sealed = sealed[len("before"):]
		if got, err := s.Open([]byte("in "), slot, owner(1), sealed); err != nil || string(got) != "in "+string(plain) {
			t.Errorf("%q, %v", got, err)
		}
		if bytes.Equal(sealed, Seal(nil, slot, &key, owner(1), plain)) {
			t.Error("two seals of the same data are equal")
		}
		if len(plain) > 3 && bytes.Contains(sealed, plain[:4]) {
			t.Error("the sealed data contains the plain text")
		}
		checkRejected := func(name string, slot uint64, owner [16]byte, sealed []byte) {
			t.Helper()
			if got, err := s.Open(nil, slot, owner, sealed); err == nil || got != nil || errors.Is(err, ErrErased) {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		checkRejected("another slot", other, owner(1), sealed)
		checkRejected("slot zero", 0, owner(1), sealed)
		checkRejected("another owner", slot, owner(2), sealed)
		for at := range min(len(sealed), 64) {
			checkRejected("truncated", slot, owner(1), sealed[:at])
			flipped := bytes.Clone(sealed)
			flipped[at] ^= 1
			checkRejected("flipped bit", slot, owner(1), flipped)
		}
	}
}

// frozenData is the associated data of slot 9 and owner(7).
var frozenData = append([]byte("pingpost/contact/1"), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9)

// TestSealedFormatIsFrozen protects the data in existing logs.
func TestSealedFormatIsFrozen(t *testing.T) {
	key := Key{1, 2, 3}
	sealed := Seal(nil, 9, &key, owner(7), []byte("a person"))
	chacha := must.Value(chacha20poly1305.New(key[:]))(t)
	if plain, err := chacha.Open(nil, sealed[:12], sealed[12:], frozenData); err != nil || string(plain) != "a person" {
		t.Errorf("%q, %v", plain, err)
	}
}

// TestOpenDataOfEarlierPrograms: they sealed with AES-256-GCM.
func TestOpenDataOfEarlierPrograms(t *testing.T) {
	s, _ := openWithFaults(t, t.TempDir(), 0, testFaults{})
	var slot uint64
	var key Key
	for slot != 9 {
		slot, key = mustNext(t, s)
	}
	nonce := []byte("twelve bytes")
	gcm := must.Value(cipher.NewGCM(must.Value(aes.NewCipher(key[:]))(t)))(t)
	sealed := gcm.Seal(bytes.Clone(nonce), nonce, []byte("a person"), frozenData)
	if plain, err := s.Open([]byte("in "), 9, owner(7), sealed); err != nil || string(plain) != "in a person" {
		t.Errorf("%q, %v", plain, err)
	}
	if plain, err := s.Open(nil, 9, owner(8), sealed); err == nil {
		t.Errorf("another owner opens %q", plain)
	}
}

func BenchmarkSeal(b *testing.B) {
	s, _ := openWithFaults(b, b.TempDir(), 0, testFaults{})
	plain, dst := make([]byte, 400), make([]byte, 0, 600)
	slot, key := mustNext(b, s)
	b.ReportAllocs()
	for b.Loop() {
		dst = Seal(dst[:0], slot, &key, owner(1), plain)
	}
}

func BenchmarkOpen(b *testing.B) {
	s, _ := openWithFaults(b, b.TempDir(), 0, testFaults{})
	slot, key := mustNext(b, s)
	sealed, dst := Seal(nil, slot, &key, owner(1), make([]byte, 400)), make([]byte, 0, 600)
	b.ReportAllocs()
	for b.Loop() {
		must.Value(s.Open(dst, slot, owner(1), sealed))(b)
	}
}
