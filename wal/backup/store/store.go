// Package store keeps named objects in a folder or in a bucket of an S3-compatible
// service, for backups: all that they need of a place is in the interface Store.
//
// Objects are small (a few megabytes) and are put and got whole. So a put is one
// request or one rename, what is torn can be put again, and there are no uploads
// in parts that a crash would leave behind in a bucket, unseen and paid for.
package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// An Object is one entry of a listing.
type Object struct {
	Name     string // path with slashes, from the store's root
	Size     int64
	Modified time.Time
}

// A Store keeps objects. It is safe for many goroutines. Names are paths of
// letters, digits, '.', '-' and '_' between slashes.
type Store interface {
	// Put gives an object its bytes, all or nothing. What was there is replaced.
	Put(ctx context.Context, name string, data []byte) error
	// Create is Put for an object that must not be there yet; else the error is
	// ErrExists. Of several that create one at once, one succeeds.
	Create(ctx context.Context, name string, data []byte) error
	// Get returns an object's bytes. The error is ErrNotFound where there is none.
	Get(ctx context.Context, name string) ([]byte, error)
	// List lists all objects below a folder, "" for all, in the order of their names.
	// What it lists is durable.
	List(ctx context.Context, folder string) ([]Object, error)
	// Delete removes objects; those that are not there are none of its concern.
	Delete(ctx context.Context, names ...string) error
	// String is where it is, without credentials.
	String() string
}

var (
	// ErrExists is returned by Create.
	ErrExists = errors.New("there is such an object already")
	// ErrNotFound is returned by Get.
	ErrNotFound = errors.New("there is no such object")
)

// MaxObject bounds what Get reads of an object, in bytes.
const MaxObject = 64 << 20

// Open opens a place: a folder, which is made where it is missing, or
// s3://bucket/prefix?endpoint=https://host&region=name. What is not said there
// comes from the environment: see S3.
func Open(place string, env func(string) (string, bool)) (Store, error) {
	return open(place, env, OpenDir)
}

// Find opens a place that is there, to read what it has: unlike Open it makes nothing.
func Find(place string, env func(string) (string, bool)) (Store, error) {
	return open(place, env, FindDir)
}

func open(place string, env func(string) (string, bool), folder func(string) (*Dir, error)) (Store, error) {
	if strings.HasPrefix(place, "s3://") {
		return openS3(place, env, nil)
	}
	if scheme, _, found := strings.Cut(place, "://"); found {
		return nil, fmt.Errorf("%s:// is no place for backups; give a folder, or s3://bucket/prefix", scheme)
	}
	if strings.HasPrefix(place, "s3:") {
		return nil, errors.New("s3: without // is no place for backups; write s3://bucket/prefix, or ./s3:… for a folder of that name")
	}
	return folder(place)
}

// Join is the place below another one.
func Join(place, name string) string {
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

// own checks an object that Create found in its place. It returns nil if the object has
// the same bytes: a request that was retried after a lost answer finds its own object.
// An object that was removed meanwhile counts as another one's.
func own(ctx context.Context, s Store, name string, data []byte) error {
	there, err := s.Get(ctx, name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err != nil || !bytes.Equal(there, data) {
		return fmt.Errorf("cannot create %s in %s: %w", name, s, ErrExists)
	}
	return nil
}
