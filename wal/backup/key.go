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

// Key encrypts and decrypts the objects of a backup with age. Recipients are public keys and
// suffice for encryption. Decryption needs an identity, the secret key. The zero Key does not
// encrypt.
type Key struct {
	recipients []age.Recipient
	identities []age.Identity
}

// encryptedPrefix begins every encrypted object.
const encryptedPrefix = "age-encryption.org/v1\n"

var (
	// ErrEncrypted reports that reading needs an identity.
	ErrEncrypted = errors.New("the backup is encrypted: give the file with its AGE-SECRET-KEY as the key file")
	// ErrUnencrypted reports an object that is not encrypted although the key file encrypts.
	ErrUnencrypted = errors.New("the object is not encrypted, but a key file was given: if the backup is not encrypted, give no key file; if it is encrypted, this object was replaced: put back the object from a copy of the backup")
)

// GenerateAgeKeyFileText creates a key pair. It returns the content of a key file with the identity
// (the secret key), and the recipient (the public key). The exchange's machine needs only the
// recipient; the key file must be kept elsewhere.
func GenerateAgeKeyFileText() (keyFileText []byte, recipient string, err error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, "", err
	}
	recipient = identity.Recipient().String()
	return fmt.Appendf(nil, "# recipient: %s\n%s\n", recipient, identity), recipient, nil
}

// ReadAgeKeyFile reads a key file. Each line is a recipient (age1…) or an identity
// (AGE-SECRET-KEY-1…) in age's format. Blank lines and lines that begin with # are skipped.
// Errors never quote a line, because the line may be a secret.
func ReadAgeKeyFile(path string) (*Key, error) {
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
				return nil, fmt.Errorf("line %d of the key file %q is not an age identity", number, path)
			}
			k.identities = append(k.identities, identity)
			k.recipients = append(k.recipients, identity.Recipient())
		default:
			recipient, err := age.ParseX25519Recipient(line)
			if err != nil {
				return nil, fmt.Errorf("line %d of the key file %q is neither an age recipient (age1…) nor an age identity", number, path)
			}
			k.recipients = append(k.recipients, recipient)
		}
	}
	if len(k.recipients) == 0 {
		return nil, fmt.Errorf("the key file %q has no key; create one with pingpost backup keygen", path)
	}
	return &k, nil
}

// hasRecipients reports whether the key has a recipient, so that encryptIfConfigured encrypts.
// Otherwise the backup is stored as plaintext.
func (k *Key) hasRecipients() bool { return len(k.recipients) > 0 }

// encryptIfConfigured encrypts the content for all recipients. A key without recipients
// returns the content unchanged.
func (k *Key) encryptIfConfigured(plain []byte) ([]byte, error) {
	if !k.hasRecipients() {
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

// decryptAsConfigured decrypts an object, and detects every changed byte. If neither the object
// nor the key uses encryption, it returns the object unchanged. The error is ErrEncrypted
// without an identity, and ErrUnencrypted for plaintext under a key that encrypts.
func (k *Key) decryptAsConfigured(stored []byte) ([]byte, error) {
	sealed := bytes.HasPrefix(stored, []byte(encryptedPrefix))
	switch {
	case sealed && len(k.identities) == 0:
		return nil, ErrEncrypted
	case !sealed && k.hasRecipients():
		return nil, ErrUnencrypted
	case !sealed:
		return stored, nil
	}
	r, err := age.Decrypt(bytes.NewReader(stored), k.identities...)
	if err != nil {
		return nil, fmt.Errorf("the key file does not open it; give the key file of this backup: %w", err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("the key file opens the encrypted object, but its content was changed or cut off after it was written: %w", err)
	}
	return plain, nil
}
