package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
)

// A Key encrypts what is put into a store, by age. One that has only recipients
// cannot read back what it wrote; one with an identity can. The zero Key encrypts
// nothing.
type Key struct {
	recipients []age.Recipient
	identities []age.Identity
}

// sealedMark is how every encrypted object begins.
const sealedMark = "age-encryption.org/v1\n"

var (
	// ErrEncrypted says that an identity is needed.
	ErrEncrypted = errors.New("the backup is encrypted: give the file with its AGE-SECRET-KEY as the key file")
	// ErrUnencrypted says that something was not written under the key that was given.
	ErrUnencrypted = errors.New("it is not encrypted, and everything in an encrypted backup is")
)

// NewKey makes a key file's contents: an identity to keep apart from the
// exchange's machine, and its recipient, which is all that machine needs.
func NewKey() (file []byte, recipient string, err error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, "", err
	}
	recipient = identity.Recipient().String()
	return fmt.Appendf(nil, "# recipient: %s\n%s\n", recipient, identity), recipient, nil
}

// ReadKey reads a key file: lines that are recipients (age1…) or identities
// (AGE-SECRET-KEY-1…), as age's own tools write them; blank lines and # lines are
// skipped. It never repeats a line in an error.
func ReadKey(path string) (*Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the backup's key file: %w", err)
	}
	var k Key
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "AGE-SECRET-KEY-"):
			identity, err := age.ParseX25519Identity(line)
			if err != nil {
				return nil, fmt.Errorf("line %d of the key file %q is no identity of age", number, path)
			}
			k.identities = append(k.identities, identity)
			k.recipients = append(k.recipients, identity.Recipient())
		default:
			recipient, err := age.ParseX25519Recipient(line)
			if err != nil {
				return nil, fmt.Errorf("line %d of the key file %q is neither a recipient (age1…) nor an identity of age", number, path)
			}
			k.recipients = append(k.recipients, recipient)
		}
	}
	if len(k.recipients) == 0 {
		return nil, fmt.Errorf("the key file %q has no key; pingpost backup keygen makes one", path)
	}
	return &k, nil
}

// seals tells whether anything is encrypted.
func (k *Key) seals() bool { return len(k.recipients) > 0 }

// seal encrypts.
func (k *Key) seal(plain []byte) ([]byte, error) {
	if !k.seals() {
		return plain, nil
	}
	var sealed bytes.Buffer
	sealed.Grow(len(plain) + len(plain)/1000 + 512)
	w, err := age.Encrypt(&sealed, k.recipients...)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot encrypt for the backup: %w", err)
	}
	return sealed.Bytes(), nil
}

// open decrypts, or fails: a byte that was changed is found.
func (k *Key) open(stored []byte) ([]byte, error) {
	sealed := bytes.HasPrefix(stored, []byte(sealedMark))
	switch {
	case sealed && len(k.identities) == 0:
		return nil, ErrEncrypted
	case !sealed && k.seals():
		return nil, ErrUnencrypted
	case !sealed:
		return stored, nil
	}
	r, err := age.Decrypt(bytes.NewReader(stored), k.identities...)
	if err != nil {
		return nil, fmt.Errorf("the key file does not open it: %w", err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("it was changed since it was written: %w", err)
	}
	return plain, nil
}
