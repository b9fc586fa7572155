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

// SuppressionHashKind says whether the lines of a suppression list are plain values or hashes of
// them.
type SuppressionHashKind uint8

const (
	HashPlain  SuppressionHashKind = 1
	HashMD5    SuppressionHashKind = 2
	HashSHA256 SuppressionHashKind = 3
)

var hashNames = [...]string{HashPlain: "plain", HashMD5: "md5", HashSHA256: "sha256"}

// ParseSuppressionHashKind returns the value for plain, md5 or sha256, and false for any other text.
func ParseSuppressionHashKind(s string) (kind SuppressionHashKind, known bool) {
	i, ok := parseEnumName(hashNames[:], s)
	return SuppressionHashKind(i), ok
}

func (h SuppressionHashKind) String() string { return EnumName(hashNames[:], int(h), "unknown") }

// SuppressionListField says whether a suppression list contains phone numbers or email addresses.
type SuppressionListField uint8

const (
	ListPhone SuppressionListField = 1
	ListEmail SuppressionListField = 2
)

var listFieldNames = [...]string{ListPhone: "phone", ListEmail: "email"}

// ParseSuppressedField returns the value for phone or email, and false for any other text.
func ParseSuppressedField(s string) (field SuppressionListField, known bool) {
	i, ok := parseEnumName(listFieldNames[:], s)
	return SuppressionListField(i), ok
}

func (f SuppressionListField) String() string { return EnumName(listFieldNames[:], int(f), "unknown") }

// SuppressionListDefinition is a configured list of persons whose leads are not sold. Its content is not in
// the configuration: it is a fingerprint.FingerprintTable.
//
// A line of a list may write a number in several forms, and a hash does not reveal which form it
// had. So a lead is looked up in all forms, and a line is stored in one. A line costs one
// fingerprint, a lead up to three lookups. Normalizing plain numbers to E.164 would save two
// lookups. But ten digits may be a national number or a foreign one without its +, and a list
// must match both.
type SuppressionListDefinition struct {
	Ref   PermanentNumber
	ID    ListID
	Field SuppressionListField
	Hash  SuppressionHashKind
}

// FingerprintLine returns the fingerprint under which one line of a list's file is stored. hashKey is
// the key of the hash. The error describes the mistake without repeating the line, which is
// personal data.
func (l *SuppressionListDefinition) FingerprintLine(line []byte, hashKey *[32]byte) (lineFingerprint uint64, err error) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return 0, errors.New("the line is empty")
	}
	var buf [format.MaxEmail]byte
	form, err := l.appendNormalizedLine(buf[:0], line)
	if err != nil {
		return 0, err
	}
	return computeFingerprint(hashKey, form), nil
}

// appendNormalizedLine returns the content of a line: the bytes of a hash, or a phone number or email in
// the form in which a lead's value is looked up. It appends to dst.
func (l *SuppressionListDefinition) appendNormalizedLine(dst, line []byte) (grown []byte, err error) {
	switch {
	case l.Hash != HashPlain:
		size := l.hashSizeInBytes()
		if len(line) != hex.EncodedLen(size) {
			return nil, fmt.Errorf("a %s hash has %d hexadecimal digits, the line has %d bytes", l.Hash, hex.EncodedLen(size), len(line))
		}
		form, err := hex.AppendDecode(dst, line)
		if err != nil {
			return nil, fmt.Errorf("the line is not a %s hash: it has something other than hexadecimal digits", l.Hash)
		}
		return form, nil
	case l.Field == ListEmail:
		email, ok := format.AppendEmailWithLowerDomain(dst, line)
		if !ok {
			return nil, errors.New("the line is not an email address; correct or remove the line")
		}
		return format.AppendLowerASCII(email[:0], email), nil
	}
	return appendE164IfPlusElseDigits(dst, line)
}

// appendE164IfPlusElseDigits appends the phone number of a line to dst. A number with + is appended in
// E.164, any other as its digits alone.
func appendE164IfPlusElseDigits(dst, phoneLine []byte) (grown []byte, err error) {
	if form, ok := format.AppendPhoneAsE164(dst, phoneLine); ok {
		if phoneLine[0] == '+' {
			return form, nil
		}
		return appendDigits(dst, phoneLine), nil
	}
	foreign := append([]byte("+"), phoneLine...)
	if _, ok := format.AppendPhoneAsE164(dst, foreign); !ok {
		return nil, errors.New("the line is not a phone number that can exist; correct or remove the line")
	}
	return appendDigits(dst, phoneLine), nil
}

// appendDigits appends the ASCII digits of text and drops all other characters.
func appendDigits(dst, text []byte) []byte {
	for _, c := range text {
		if format.IsDigit(c) {
			dst = append(dst, c)
		}
	}
	return dst
}

// AppendLeadFingerprints appends the fingerprints by which a lead is looked up in the list. For a
// phone they are those of E.164, of E.164 without its + and, for +1, of the ten national digits.
// For an email it is that of the lower-case address. A lead without the value has no fingerprints.
func (l *SuppressionListDefinition) AppendLeadFingerprints(lead *Lead, hashKey *[32]byte, dst []uint64) []uint64 {
	if l.Field == ListEmail {
		email := lead.Values[SlotEmail].Text
		if len(email) == 0 {
			return dst
		}
		var buf [format.MaxEmail]byte
		return append(dst, l.fingerprintOfLeadValue(hashKey, format.AppendLowerASCII(buf[:0], email)))
	}
	phone := lead.Values[SlotPhone].Text
	if len(phone) == 0 {
		return dst
	}
	dst = append(dst, l.fingerprintOfLeadValue(hashKey, phone), l.fingerprintOfLeadValue(hashKey, phone[1:]))
	if national := phone[1:]; len(national) == format.NationalDigits+1 && national[0] == '1' {
		dst = append(dst, l.fingerprintOfLeadValue(hashKey, national[1:]))
	}
	return dst
}

// fingerprintOfLeadValue returns the fingerprint of a lead's value in one form. If the list contains
// hashes, it hashes the value first as the list does.
func (l *SuppressionListDefinition) fingerprintOfLeadValue(hashKey *[32]byte, normalizedValue []byte) uint64 {
	switch l.Hash {
	case HashMD5:
		digest := md5.Sum(normalizedValue)
		return computeFingerprint(hashKey, digest[:])
	case HashSHA256:
		digest := sha256.Sum256(normalizedValue)
		return computeFingerprint(hashKey, digest[:])
	}
	return computeFingerprint(hashKey, normalizedValue)
}

// hashSizeInBytes returns the size in bytes of the hashes that the list contains. The list must not be
// one of plain values.
func (l *SuppressionListDefinition) hashSizeInBytes() int {
	if l.Hash == HashMD5 {
		return md5.Size
	}
	return sha256.Size
}

// computeFingerprint returns the first 8 bytes of the keyed hash of valueForm. In a list of 100 million
// lines a lead matches another person's fingerprint once in 10^11 lookups.
func computeFingerprint(hashKey *[32]byte, valueForm []byte) uint64 {
	sum := fingerprint.HMAC(hashKey, valueForm)
	return binary.BigEndian.Uint64(sum[:])
}
