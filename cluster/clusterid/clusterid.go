// Package clusterid stores the id of a node's cluster: a random number that tells two clusters of one
// exchange apart, for example the real one and a rehearsal with its backup.
//
// The first node creates the id with its cluster. A new node gets it with the copy of the data, or from
// the member that first connects to it.
package clusterid

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pingpost/internal/durable"
)

// FileName is the name of the file in the data directory. It has the id in hexadecimal.
const FileName = "CLUSTER"

// ID is the id of a cluster. The zero value means that the node is in no cluster yet.
type ID [16]byte

// Read returns the id in a data directory.
func Read(dir string) (id ID, err error) {
	path := filepath.Join(dir, FileName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return id, nil
	}
	if err != nil {
		return id, fmt.Errorf("cannot read the id of the cluster: %w", err)
	}
	n, err := hex.Decode(id[:], []byte(strings.TrimSpace(string(text[:min(len(text), 2*len(id)+1)]))))
	if err != nil || n != len(id) || id == (ID{}) {
		return ID{}, fmt.Errorf("cannot read the id of the cluster: %q must have %d hexadecimal digits", path, 2*len(id))
	}
	return id, nil
}

// Write stores the id durably.
func Write(dir string, id ID) error {
	if err := durable.WriteFile(filepath.Join(dir, FileName), strings.NewReader(hex.EncodeToString(id[:])+"\n")); err != nil {
		return fmt.Errorf("cannot store the id of the cluster: %w", err)
	}
	return nil
}

// Create stores the id of a new cluster.
func Create(dir string) error {
	var id ID
	_, _ = rand.Read(id[:]) // never fails
	return Write(dir, id)
}
