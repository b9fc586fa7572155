package backup

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
)

// Manifests, claims and fences are not encrypted: they say how far a backup reaches
// and which life may write to it, and the shipper reads them without an identity. Each
// is a JSON object whose last member is the sum of its name and of all bytes before
// that member, under the key of the sums. Whoever has the exchange's own key checks it:
// the shipper, a restore and verify. `backup list` has no key and checks nothing.
//
// Rejected: the sum over the decoded members. A member that is written twice, or in
// other letters, would pass.

// ErrChanged is returned for a claim, fence or manifest with another sum than its own.
var ErrChanged = errors.New("it was changed since it was written; put it back as it was, from a copy of the place or an older version of the object")

// unknownLife is the error of a start or a restore beside a changed claim or fence.
func unknownLife(err error) error {
	return fmt.Errorf("cannot tell which life of the exchange goes on: %w. If it cannot be put back, and this copy is the one that goes on: "+
		"remove the object (a generation without a claim counts for none), or use another place", err)
}

// sumKey begins the member with the sum; two more characters end the object.
const sumKey = `,"sum":"`

// sign returns the JSON object of value with its sum.
func (b *box) sign(name string, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic("BUG: " + name + " cannot be written: " + err.Error())
	}
	return append(bytes.TrimSuffix(text, []byte("}")), sumKey+sum(b.names, name, text)+`"}`...)
}

// signedSize is the size of what sign returns for a JSON object of n bytes.
func signedSize(n int) int { return n + len(sumKey) + sumDigits + 1 }

// readSigned decodes an object and returns its sum. An object of an earlier program has
// none: signed is then empty, and the object has no unknown member. The error wraps
// ErrChanged.
func (b *box) readSigned(name string, text []byte, value any) (signed string, err error) {
	body, end, found := bytes.Cut(text, []byte(sumKey))
	if !found || len(end) != sumDigits+2 || string(end[sumDigits:]) != `"}` {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err = d.Decode(value); err == nil && d.More() {
			err = errors.New("there is more behind it")
		}
	} else {
		signed = string(end[:sumDigits])
		if b.names != nil && sum(b.names, name, append(bytes.Clone(body), '}')) != signed {
			err = errors.New("its sum is another")
		} else {
			err = json.Unmarshal(text, value)
		}
	}
	if err != nil {
		return "", fmt.Errorf("%s in %s (%w): %w", name, b.store, err, ErrChanged)
	}
	return signed, nil
}

// under returns the box of a generation. The key of its sums follows from the sum of
// its claim, so that no object of the generation is good under another claim, or under
// one without a sum. An earlier program used the same key for all generations.
func (b *box) under(c *claim) box {
	g := *b
	if b.names != nil && c.sum != "" {
		mac := hmac.New(sha256.New, b.names)
		mac.Write([]byte("claim\x00" + c.sum))
		g.names = mac.Sum(nil)
	}
	return g
}

// maxOpen bounds the size of an object that is decoded before its sum is checked.
const maxOpen = 8 << 20

// getOpen reads a claim, fence or manifest, and returns its sum.
func (b *box) getOpen(ctx context.Context, name string, value any) (signed string, err error) {
	ctx, cancel := within(ctx, 0)
	defer cancel()
	text, err := b.store.Get(ctx, name)
	if err != nil {
		return "", err
	}
	if len(text) > maxOpen {
		return "", fmt.Errorf("%s in %s is larger than %d bytes: %w", name, b.store, maxOpen, ErrChanged)
	}
	return b.readSigned(name, text, value)
}

// getManifest reads the manifest of a generation or of a file in it. It has a sum if the
// generation's claim has one.
func (g *generation) getManifest(ctx context.Context, name string, value any) error {
	signed, err := g.box.getOpen(ctx, name, value)
	if err == nil && (signed == "") != (g.claim.sum == "") {
		err = fmt.Errorf("%s in %s (it has no sum, and its generation's claim has one): %w", name, g.box.store, ErrChanged)
	}
	return err
}
