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

// Manifests, claims and fences are not encrypted: they say how far a backup reaches and which
// life may write to it, and the shipper reads them without an identity. Each is a JSON object.
// Its last member is the sum of the object's name and all bytes before that member, with the
// key of the sums. The shipper, restore and verify have the exchange's key and check the sum.
// `backup list` has no key and checks no sums.
//
// Rejected: a sum over the decoded members. A repeated member, or one with another case,
// would pass.

// ErrChanged reports a claim, fence or manifest that does not match its sum, or that is not
// a valid object of its kind.
var ErrChanged = errors.New("it was changed after it was written; restore it from a copy of the backup place or an older version of the object")

// unknownHighestEpochError wraps err, which says that a claim or fence was changed. The current life
// (log epoch) is then unknown, so neither shipping nor a restore may begin. The message tells
// the operator the remedy.
func unknownHighestEpochError(err error) error {
	return fmt.Errorf("an object of the backup that records restores is not reliable, so this exchange's data may be an outdated copy: %w. If the object cannot be restored and "+
		"this exchange's data is the one to continue, remove the object (a generation without a claim is ignored), or back up to another place", err)
}

// sumMember begins the member with the sum. Two more characters end the object.
const sumMember = `,"sum":"`

// encodeJSONWithKeyedSum returns value as a JSON object that contains a keyed checksum of itself and
// of its name.
func (b *encryptedStore) encodeJSONWithKeyedSum(name string, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic("BUG: " + name + " cannot be written: " + err.Error())
	}
	return append(bytes.TrimSuffix(text, []byte("}")), sumMember+sum(b.sumKey, name, text)+`"}`...)
}

// sizeWithSum returns the size that encodeJSONWithKeyedSum produces from a JSON object of jsonSize
// bytes.
func sizeWithSum(jsonSize int) int { return jsonSize + len(sumMember) + sumDigits + 1 }

// decodeWithSum decodes a JSON object into value and verifies the checksum in it, unless the
// key of the sums is unknown. It returns the checksum. An object of an earlier version has no
// checksum; sumText is then empty. The error wraps ErrChanged.
func (b *encryptedStore) decodeWithSum(name string, text []byte, value any) (sumText string, err error) {
	body, end, found := bytes.Cut(text, []byte(sumMember))
	if !found || len(end) != sumDigits+2 || string(end[sumDigits:]) != `"}` {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err = d.Decode(value); err == nil && d.More() {
			err = errors.New("more data follows it")
		}
	} else {
		sumText = string(end[:sumDigits])
		if b.sumKey != nil && sum(b.sumKey, name, append(bytes.Clone(body), '}')) != sumText {
			err = errors.New("its content does not match the sum in it")
		} else {
			err = json.Unmarshal(text, value)
		}
	}
	if err != nil {
		return "", fmt.Errorf("%s in %s (%w): %w", name, b.store, err, ErrChanged)
	}
	return sumText, nil
}

// withChecksumKeyFromClaim returns an encryptedStore for the generation with this claim. It derives the key
// of the checksums from the checksum of the claim. An object of the generation is therefore
// invalid under another claim, or under a claim without a checksum. Earlier versions used the
// same key for all generations.
func (b *encryptedStore) withChecksumKeyFromClaim(claim *generationClaim) encryptedStore {
	g := *b
	if b.sumKey != nil && claim.sum != "" {
		mac := hmac.New(sha256.New, b.sumKey)
		mac.Write([]byte("claim\x00" + claim.sum))
		g.sumKey = mac.Sum(nil)
	}
	return g
}

// maxSigned limits the size of an object that is decoded before its sum is checked.
const maxSigned = 8 << 20

// getWithSum reads a claim, fence or manifest into value, verifies its checksum like
// decodeWithSum, and returns the checksum.
func (b *encryptedStore) getWithSum(ctx context.Context, name string, value any) (sumText string, err error) {
	ctx, cancel := withTransferTimeout(ctx, 0)
	defer cancel()
	text, err := b.store.Get(ctx, name)
	if err != nil {
		return "", err
	}
	if len(text) > maxSigned {
		return "", fmt.Errorf("%s in %s is larger than %d bytes: %w", name, b.store, maxSigned, ErrChanged)
	}
	return b.decodeWithSum(name, text, value)
}

// getManifestSignedLikeClaim reads a manifest of the generation into value. It returns ErrChanged
// unless the manifest and the generation's claim either both have a checksum or both lack
// one.
func (g *backupGeneration) getManifestSignedLikeClaim(ctx context.Context, name string, value any) error {
	signed, err := g.box.getWithSum(ctx, name, value)
	if err == nil && (signed == "") != (g.claim.sum == "") {
		err = fmt.Errorf("of the manifest %s in the backup %s and the claim of its generation (its first object), only one has a checksum: %w", name, g.box.store, ErrChanged)
	}
	return err
}
