package market

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"pingpost/engine/market/fingerprint"
	"pingpost/engine/market/format"
)

// SuppressionHash is the form of a suppression list's entries.
type SuppressionHash uint8

const (
	HashPlain  SuppressionHash = 1
	HashMD5    SuppressionHash = 2
	HashSHA256 SuppressionHash = 3
)

var hashNames = [...]string{HashPlain: "plain", HashMD5: "md5", HashSHA256: "sha256"}

// ParseSuppressionHash reads plain, md5 or sha256.
func ParseSuppressionHash(s string) (SuppressionHash, bool) {
	i, ok := parseEnumName(hashNames[:], s)
	return SuppressionHash(i), ok
}

func (h SuppressionHash) String() string { return enumNameAt(hashNames[:], int(h)) }

// SuppressionField is the field that a suppression list contains.
type SuppressionField uint8

const (
	ListPhone SuppressionField = 1
	ListEmail SuppressionField = 2
)

var listFieldNames = [...]string{ListPhone: "phone", ListEmail: "email"}

// ParseSuppressionField reads phone or email.
func ParseSuppressionField(s string) (SuppressionField, bool) {
	i, ok := parseEnumName(listFieldNames[:], s)
	return SuppressionField(i), ok
}

func (f SuppressionField) String() string { return enumNameAt(listFieldNames[:], int(f)) }

// SuppressionList is a suppression list in the catalog; its content is state, a fingerprint.Table.
//
// An entry may have one of several forms, and a hash does not tell which. So a lead is
// looked up in all forms, and an entry is stored in one: an entry costs one fingerprint, a
// lead up to three probes. Normalizing plain numbers to E.164 would save two probes. But
// ten digits may be a national number or a foreign one without its +, and a list must
// match both.
type SuppressionList struct {
	Ref   Ref
	ID    ListID
	Field SuppressionField
	Hash  SuppressionHash
}

// FingerprintLine returns the fingerprint of one line of a list's file. The error describes the
// mistake without repeating the line.
func (l *SuppressionList) FingerprintLine(line []byte, key *[32]byte) (uint64, error) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return 0, errors.New("the line is empty")
	}
	var buf [format.MaxEmail]byte
	form, err := l.parseListLine(buf[:0], line)
	if err != nil {
		return 0, err
	}
	return fingerprintOfForm(key, form), nil
}

// parseListLine returns the content of a line: a digest's bytes, or the value in the form in
// which a lead's value is looked up.
func (l *SuppressionList) parseListLine(dst, line []byte) ([]byte, error) {
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
		email, ok := format.ParseEmail(dst, line)
		if !ok {
			return nil, errors.New("the line is not an email address")
		}
		return format.AppendLower(email[:0], email), nil
	}
	return parsePhoneEntry(dst, line)
}

// parsePhoneEntry keeps a + and then the whole number; without a + it keeps the digits alone.
func parsePhoneEntry(dst, line []byte) ([]byte, error) {
	if form, ok := format.ParsePhone(dst, line); ok {
		if line[0] == '+' {
			return form, nil
		}
		return appendDigits(dst, line), nil
	}
	foreign := append([]byte("+"), line...)
	if _, ok := format.ParsePhone(dst, foreign); !ok {
		return nil, errors.New("the line is not a phone number that can exist")
	}
	return appendDigits(dst, line), nil
}

func appendDigits(dst, text []byte) []byte {
	for _, c := range text {
		if format.IsDigit(c) {
			dst = append(dst, c)
		}
	}
	return dst
}

// AppendLeadFingerprints appends the fingerprints to look up for the lead: the phone as E.164, without its
// +, and as ten national digits; the email in lower case. A lead without the value has
// none.
func (l *SuppressionList) AppendLeadFingerprints(lead *Lead, key *[32]byte, dst []uint64) []uint64 {
	if l.Field == ListEmail {
		email := lead.Values[SlotEmail].Text
		if len(email) == 0 {
			return dst
		}
		var buf [format.MaxEmail]byte
		return append(dst, l.probeFingerprint(key, format.AppendLower(buf[:0], email)))
	}
	phone := lead.Values[SlotPhone].Text
	if len(phone) == 0 {
		return dst
	}
	dst = append(dst, l.probeFingerprint(key, phone), l.probeFingerprint(key, phone[1:]))
	if national := phone[1:]; len(national) == format.NationalDigits+1 && national[0] == '1' {
		dst = append(dst, l.probeFingerprint(key, national[1:]))
	}
	return dst
}

// probeFingerprint returns the fingerprint of an entry with this form.
func (l *SuppressionList) probeFingerprint(key *[32]byte, form []byte) uint64 {
	switch l.Hash {
	case HashMD5:
		digest := md5.Sum(form)
		return fingerprintOfForm(key, digest[:])
	case HashSHA256:
		digest := sha256.Sum256(form)
		return fingerprintOfForm(key, digest[:])
	}
	return fingerprintOfForm(key, form)
}

func (l *SuppressionList) digestSize() int {
	if l.Hash == HashMD5 {
		return md5.Size
	}
	return sha256.Size
}

// fingerprintOfForm returns 8 bytes of the keyed hash. In a list of 100 million entries a lead
// matches another person's fingerprint once in 10^11 probes.
func fingerprintOfForm(key *[32]byte, form []byte) uint64 {
	sum := fingerprint.HMAC(key, form)
	return binary.BigEndian.Uint64(sum[:])
}
