package market

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
)

// Hash is how the entries of a suppression list are written.
type Hash uint8

const (
	HashPlain  Hash = 1
	HashMD5    Hash = 2
	HashSHA256 Hash = 3
)

var hashNames = [...]string{HashPlain: "plain", HashMD5: "md5", HashSHA256: "sha256"}

// ParseHash reads plain, md5 or sha256.
func ParseHash(s string) (Hash, bool) {
	i, ok := nameIndex(hashNames[:], s)
	return Hash(i), ok
}

func (h Hash) String() string { return nameAt(hashNames[:], int(h)) }

// ListField is what the entries of a suppression list are.
type ListField uint8

const (
	ListPhone ListField = 1
	ListEmail ListField = 2
)

var listFieldNames = [...]string{ListPhone: "phone", ListEmail: "email"}

// ParseListField reads phone or email.
func ParseListField(s string) (ListField, bool) {
	i, ok := nameIndex(listFieldNames[:], s)
	return ListField(i), ok
}

func (f ListField) String() string { return nameAt(listFieldNames[:], int(f)) }

// List is a suppression list as the catalog knows it; its contents are state,
// a Table.
//
// An entry stands in a list in one of several forms, and a hash does not tell
// in which. So the forms are multiplied where a lead is looked up, not where a
// list is read: an entry costs one fingerprint whatever its form, a lead up to
// three probes. Reading plain numbers as E.164 would have spared two of them,
// but ten digits may be a national number or a foreign one that lost its +, and
// a list must hold for both.
type List struct {
	Ref   Ref
	ID    ListID
	Field ListField
	Hash  Hash
}

// Entry is the fingerprint of one line of a list's file. The error says what is
// wrong with the line without repeating it.
func (l *List) Entry(line []byte, key *[32]byte) (uint64, error) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return 0, errors.New("the line is empty")
	}
	var buf [maxEmail]byte
	form, err := l.entryForm(buf[:0], line)
	if err != nil {
		return 0, err
	}
	return fingerprint(key, form), nil
}

// entryForm is what stands in the line: a digest's bytes, or the value in the
// form in which a lead's own is looked up.
func (l *List) entryForm(dst, line []byte) ([]byte, error) {
	switch {
	case l.Hash != HashPlain:
		size := l.digestSize()
		if len(line) != hex.EncodedLen(size) {
			return nil, fmt.Errorf("a %s hash has %d hexadecimal digits, the line has %d bytes", l.Hash, hex.EncodedLen(size), len(line))
		}
		form, err := hex.AppendDecode(dst, line)
		if err != nil {
			return nil, fmt.Errorf("the line is not a %s hash: it has something other than hexadecimal digits", l.Hash)
		}
		return form, nil
	case l.Field == ListEmail:
		email, ok := ParseEmail(dst, line)
		if !ok {
			return nil, errors.New("the line is not an email address")
		}
		return AppendLower(email[:0], email), nil
	}
	return phoneForm(dst, line)
}

// phoneForm keeps a + where there is one, and with it the whole number; without
// it the digits alone, whatever they leave out.
func phoneForm(dst, line []byte) ([]byte, error) {
	if form, ok := ParsePhone(dst, line); ok {
		if line[0] == '+' {
			return form, nil
		}
		return appendDigits(dst, line), nil
	}
	foreign := append([]byte("+"), line...)
	if _, ok := ParsePhone(dst, foreign); !ok {
		return nil, errors.New("the line is not a phone number that can exist")
	}
	return appendDigits(dst, line), nil
}

func appendDigits(dst, text []byte) []byte {
	for _, c := range text {
		if isDigit(c) {
			dst = append(dst, c)
		}
	}
	return dst
}

// Probes appends the fingerprints under which the lead may stand in the list:
// the phone as E.164, without its +, and as ten national digits; the email
// lowercased. A lead without the value has none.
func (l *List) Probes(lead *Lead, key *[32]byte, dst []uint64) []uint64 {
	if l.Field == ListEmail {
		email := lead.Values[SlotEmail].Text
		if len(email) == 0 {
			return dst
		}
		var buf [maxEmail]byte
		return append(dst, l.probe(key, AppendLower(buf[:0], email)))
	}
	phone := lead.Values[SlotPhone].Text
	if len(phone) == 0 {
		return dst
	}
	dst = append(dst, l.probe(key, phone), l.probe(key, phone[1:]))
	if national := phone[1:]; len(national) == nanpDigits+1 && national[0] == '1' {
		dst = append(dst, l.probe(key, national[1:]))
	}
	return dst
}

// probe is the fingerprint of an entry that holds the form.
func (l *List) probe(key *[32]byte, form []byte) uint64 {
	switch l.Hash {
	case HashMD5:
		digest := md5.Sum(form)
		return fingerprint(key, digest[:])
	case HashSHA256:
		digest := sha256.Sum256(form)
		return fingerprint(key, digest[:])
	}
	return fingerprint(key, form)
}

func (l *List) digestSize() int {
	if l.Hash == HashMD5 {
		return md5.Size
	}
	return sha256.Size
}

// fingerprint is 8 bytes of the keyed hash. In a list of 100 million entries a
// lead meets a stranger's fingerprint once in 10^11 probes.
func fingerprint(key *[32]byte, form []byte) uint64 {
	sum := keyedHash(key, form)
	return binary.BigEndian.Uint64(sum[:])
}
