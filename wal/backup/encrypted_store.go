package backup

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pingpost/wal/backup/store"
)

// sumDigits is the length of a sum: 128 bits in hexadecimal.
const sumDigits = 32

// encryptedStore puts the objects of a backup into a store and reads them. It encrypts them,
// unless the backup is unencrypted. The name of an object ends with its size and a keyed
// checksum (sum) of its plaintext. Claims, fences and manifests are not encrypted, and
// contain their sum instead.
type encryptedStore struct {
	store  store.Store
	key    *Key
	sumKey []byte // key of the sums; nil: the sums in claims, fences and manifests are not checked
}

// deriveChecksumKey derives the secret key of a backup's checksums from the content of the
// exchange's key file.
func deriveChecksumKey(exchangeKeyFile []byte) []byte {
	key, err := hkdf.Key(sha256.New, exchangeKeyFile, nil, "pingpost/backup", 32)
	if err != nil {
		panic("BUG: a key of 32 bytes cannot be derived: " + err.Error())
	}
	return key
}

// sum returns the keyed checksum of an object's plaintext and of its place, the beginning of
// its name. An object that is copied to another place therefore does not verify.
func sum(sumKey []byte, place string, plain []byte) string {
	mac := hmac.New(sha256.New, sumKey)
	mac.Write([]byte(place))
	mac.Write([]byte{0})
	mac.Write(plain)
	return hex.EncodeToString(mac.Sum(nil))[:sumDigits]
}

// The timeout of a request grows with its size. A store that does not answer in time counts
// as failed.
const (
	baseTimeout       = 15 * time.Second
	minBytesPerSecond = 128 << 10 // bytes a second
)

// withTransferTimeout returns a context with the timeout for sending or receiving an object
// of this many bytes.
func withTransferTimeout(ctx context.Context, bytes int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, baseTimeout+time.Duration(bytes)*time.Second/minBytesPerSecond)
}

// put encrypts and stores an object. It returns the object's name: the given place, followed
// by the stored size and the checksum.
func (b *encryptedStore) put(ctx context.Context, place string, plain []byte) (string, error) {
	sealed, err := b.key.encryptIfConfigured(plain)
	if err != nil {
		return "", err
	}
	name := place + sizeAndChecksum{int64(len(sealed)), sum(b.sumKey, place, plain)}.String()
	ctx, cancel := withTransferTimeout(ctx, len(sealed))
	defer cancel()
	return name, b.store.Put(ctx, name, sealed)
}

// get returns the decrypted content of the object with this place, size and checksum. It
// returns an error if the content does not match the checksum.
func (b *encryptedStore) get(ctx context.Context, place string, s sizeAndChecksum) ([]byte, error) {
	plain, err := b.getWithoutSumCheck(ctx, place+s.String(), s.size)
	if err != nil {
		return nil, err
	}
	if sum(b.sumKey, place, plain) != s.sum {
		return nil, fmt.Errorf("the backup's object %s%s in %s is damaged: its content does not match its checksum; pingpost backup verify shows what can still be restored", place, s, b.store)
	}
	return plain, nil
}

// getWithoutSumCheck returns the decrypted content of an object. It checks the object's size,
// but not its checksum.
func (b *encryptedStore) getWithoutSumCheck(ctx context.Context, name string, size int64) ([]byte, error) {
	ctx, cancel := withTransferTimeout(ctx, int(size))
	defer cancel()
	stored, err := b.store.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	if int64(len(stored)) != size {
		return nil, fmt.Errorf("the backup's object %s in %s is damaged: it has %d bytes, but its name says %d", name, b.store, len(stored), size)
	}
	plain, err := b.key.decryptAsConfigured(stored)
	if err != nil {
		return nil, fmt.Errorf("cannot read the backup's object %s in %s: %w", name, b.store, err)
	}
	return plain, nil
}

func (b *encryptedStore) listObjects(ctx context.Context, folder string) ([]store.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*baseTimeout)
	defer cancel()
	return b.store.List(ctx, folder)
}

func (b *encryptedStore) removeObjects(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 4*baseTimeout)
	defer cancel()
	return b.store.Delete(ctx, names...)
}

// putManifest stores the manifest of a folder, which says that the folder's content is
// complete. The manifest's name contains its size, so that readers skip a manifest that was
// only partly written.
func (b *encryptedStore) putManifest(ctx context.Context, folder string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		panic("BUG: a manifest cannot be written: " + err.Error())
	}
	name := fmt.Sprintf("%s/whole-%d", folder, sizeWithSum(len(text)))
	ctx, cancel := withTransferTimeout(ctx, len(text))
	defer cancel()
	return b.store.Put(ctx, name, b.encodeJSONWithKeyedSum(name, value))
}

// folderOfManifest returns the folder that the manifest o describes. ok is false if o is not
// a complete manifest.
func folderOfManifest(o store.Object) (folder string, ok bool) {
	return strings.CutSuffix(o.Name, fmt.Sprintf("/whole-%d", o.Size))
}

// createSignedObject stores a claim or a fence, as JSON with a checksum, under a name that
// must not exist yet. It returns the checksum.
func (b *encryptedStore) createSignedObject(ctx context.Context, name string, value any) (sumText string, err error) {
	text := b.encodeJSONWithKeyedSum(name, value)
	ctx, cancel := withTransferTimeout(ctx, len(text))
	defer cancel()
	return string(text[len(text)-sumDigits-2 : len(text)-2]), b.store.Create(ctx, name, text)
}
