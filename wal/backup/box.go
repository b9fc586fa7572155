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

// A box is a store with what is put in it encrypted, and named by its contents.
type box struct {
	store store.Store
	key   *Key
	names []byte // key of the sums; nil: sums are not checked
}

// namesKey is the key of the sums, from the contents of the exchange's key file.
func namesKey(root []byte) []byte {
	key, err := hkdf.Key(sha256.New, root, nil, "pingpost/backup", 32)
	if err != nil {
		panic("BUG: a key of 32 bytes cannot be derived: " + err.Error())
	}
	return key
}

// sum binds contents to the place that they have.
func sum(names []byte, place string, plain []byte) string {
	mac := hmac.New(sha256.New, names)
	mac.Write([]byte(place))
	mac.Write([]byte{0})
	mac.Write(plain)
	return hex.EncodeToString(mac.Sum(nil))[:sumDigits]
}

// A request has a while, and more for each byte: a store that hangs is one that
// fails.
const (
	patience      = 15 * time.Second
	slowestInputs = 128 << 10 // bytes a second
)

func within(ctx context.Context, size int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, patience+time.Duration(size)*time.Second/slowestInputs)
}

// put puts an object and returns its name, which is place and a stamp.
func (b *box) put(ctx context.Context, place string, plain []byte) (string, error) {
	sealed, err := b.key.seal(plain)
	if err != nil {
		return "", err
	}
	name := place + stamp{int64(len(sealed)), sum(b.names, place, plain)}.String()
	ctx, cancel := within(ctx, len(sealed))
	defer cancel()
	return name, b.store.Put(ctx, name, sealed)
}

// get gets an object, whose name is place and stamp, and checks it.
func (b *box) get(ctx context.Context, place string, s stamp) ([]byte, error) {
	plain, err := b.fetch(ctx, place+s.String(), s.size)
	if err != nil {
		return nil, err
	}
	if sum(b.names, place, plain) != s.sum {
		return nil, fmt.Errorf("%s%s in %s is damaged: its sum is another", place, s, b.store)
	}
	return plain, nil
}

// fetch gets and opens an object, without the check by its sum.
func (b *box) fetch(ctx context.Context, name string, size int64) ([]byte, error) {
	ctx, cancel := within(ctx, int(size))
	defer cancel()
	stored, err := b.store.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	if int64(len(stored)) != size {
		return nil, fmt.Errorf("%s in %s is damaged: it has %d bytes, and its name says %d", name, b.store, len(stored), size)
	}
	plain, err := b.key.open(stored)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s in %s: %w", name, b.store, err)
	}
	return plain, nil
}

func (b *box) list(ctx context.Context, folder string) ([]store.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*patience)
	defer cancel()
	return b.store.List(ctx, folder)
}

func (b *box) remove(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 4*patience)
	defer cancel()
	return b.store.Delete(ctx, names...)
}

// putWhole puts the manifest of what is below a folder. Its name has its size, so that
// half of one counts for none.
func (b *box) putWhole(ctx context.Context, folder string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		panic("BUG: a manifest cannot be written: " + err.Error())
	}
	name := fmt.Sprintf("%s/whole-%d", folder, signedSize(len(text)))
	ctx, cancel := within(ctx, len(text))
	defer cancel()
	return b.store.Put(ctx, name, b.sign(name, value))
}

// wholeOf is the folder that an object is the manifest of.
func wholeOf(o store.Object) (folder string, ok bool) {
	return strings.CutSuffix(o.Name, fmt.Sprintf("/whole-%d", o.Size))
}

// createOpen creates a claim or a fence, and returns its sum.
func (b *box) createOpen(ctx context.Context, name string, value any) (signed string, err error) {
	text := b.sign(name, value)
	ctx, cancel := within(ctx, len(text))
	defer cancel()
	return string(text[len(text)-sumDigits-2 : len(text)-2]), b.store.Create(ctx, name, text)
}
