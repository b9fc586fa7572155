// Package store stores named objects for backups in a folder or in a bucket of an
// S3-compatible service. The interface Store has all that backups need.
//
// Objects are small (a few megabytes) and are written and read as a whole. A put is one
// request or one rename, and a torn object can be put again. There are no multipart uploads,
// which a crash would leave in a bucket, invisible and paid for.
package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Object describes one stored object in a listing.
type Object struct {
	Name     string // path with slashes, from the store's root
	Size     int64
	Modified time.Time
}

// Store keeps the objects of backups, in a folder or an S3 bucket. It is safe for concurrent
// use. Names are paths of letters, digits, '.', '-' and '_' between slashes.
type Store interface {
	// Put writes an object completely or not at all, and replaces an existing one.
	Put(ctx context.Context, name string, data []byte) error
	// Create writes an object that must not exist yet; otherwise the error is ErrExists. An existing
	// object with the same bytes is no error, because a retry may find its own object. Of several
	// concurrent calls, one succeeds.
	Create(ctx context.Context, name string, data []byte) error
	// Get returns an object's bytes. The error is ErrNotFound if it is missing.
	Get(ctx context.Context, name string) ([]byte, error)
	// List lists all objects below a folder ("" for all), ordered by name. Listed objects
	// are durable, except in a folder opened by OpenExisting.
	List(ctx context.Context, folder string) ([]Object, error)
	// Delete removes objects, and ignores missing ones.
	Delete(ctx context.Context, names ...string) error
	// String returns the place without credentials.
	String() string
}

var (
	// ErrExists is returned by Create.
	ErrExists = errors.New("an object of this name exists already")
	// ErrNotFound is returned by Get.
	ErrNotFound = errors.New("no object of this name exists")
)

// MaxObject is the maximum size of an object in bytes. Get returns only that many bytes of a
// larger one.
const MaxObject = 64 << 20

// Open opens a place: a folder, which it creates if it is missing, or
// s3://bucket/prefix?endpoint=https://host&region=name. The environment gives the defaults
// and the credentials: see openS3.
func Open(place string, getenv func(string) (string, bool)) (Store, error) {
	return open(place, getenv, OpenDir)
}

// OpenExisting opens an existing backup place, mainly for reading. Unlike Open it never
// creates a folder.
func OpenExisting(place string, getenv func(string) (string, bool)) (Store, error) {
	return open(place, getenv, OpenExistingDir)
}

func open(place string, getenv func(string) (string, bool), openDir func(string) (*Dir, error)) (Store, error) {
	if strings.HasPrefix(place, "s3://") {
		return openS3(place, getenv, nil)
	}
	if scheme, _, found := strings.Cut(place, "://"); found {
		return nil, fmt.Errorf("%s:// is not a place for backups; give a folder, or s3://bucket/prefix", scheme)
	}
	if strings.HasPrefix(place, "s3:") {
		return nil, errors.New("s3: without // is not a place for backups; write s3://bucket/prefix, or ./s3:… for a folder of that name")
	}
	return openDir(place)
}

// JoinPlace returns the backup place (a folder or an s3:// address) with a name added to its
// path. It keeps the query of an s3:// address.
func JoinPlace(place, name string) string {
	path, query, hasQuery := strings.Cut(place, "?")
	path = strings.TrimRight(path, "/") + "/" + name
	if hasQuery && strings.HasPrefix(place, "s3://") {
		return path + "?" + query
	}
	if hasQuery {
		return strings.TrimRight(place, "/") + "/" + name
	}
	return path
}

// checkOwnObject checks the object that Create finds under its name. It returns nil if the
// object has the caller's bytes, because a retried request can find its own object after a
// lost answer. Otherwise, and if the object was removed meanwhile, it returns ErrExists.
func checkOwnObject(ctx context.Context, s Store, name string, data []byte) error {
	there, err := s.Get(ctx, name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err != nil || !bytes.Equal(there, data) {
		return fmt.Errorf("cannot create %s in %s: %w", name, s, ErrExists)
	}
	return nil
}
