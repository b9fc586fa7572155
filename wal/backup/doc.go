// Package backup copies a log in use to another place, and restores an exchange's folder
// from the copy at any entry or time.
//
// The main difficulty: the copy must be restorable at every moment, even if an upload was
// interrupted, and the shipper cannot read the copy, because it has only the encryption's
// recipient. Every object is therefore complete and immutable, and its name says where its
// content belongs. A listing shows the content of the store. There is no index that could
// contradict the listing.
//
// # In the store
//
//	fence/<10 digits>                     current shipper: fence.go
//	gen/<10 digits>/claim                 a generation: one log, copied from its beginning
//	gen/<…>/whole-<size>                  manifest: the generation can be restored
//	gen/<…>/log/<first>-<last>-<time>-<size>-<sum>    records of the log
//	gen/<…>/snapshot/<newest>/<n>-<size>-<sum>        a snapshot file in pieces
//	gen/<…>/snapshot/<newest>/whole-<size>            and its manifest, last
//	gen/<…>/file/<folder>/<name>/…                    a file next to the log, likewise
//	keys/<path>/<size>-<sum>              key files, apart from generations: keys.go
//	erased/<path>/<size>-<sum>            their erased keys, kept forever
//
// The size is the stored size of the object, so the listing reveals incomplete objects, and
// readers skip them. The sum is an HMAC-SHA-256 of the content and its place, with a key
// derived from the exchange's key, so that the listing alone does not allow guessing
// contents. Claims, fences and manifests contain their sum: sign.go.
//
// # Guarantees
//
//  1. Everything that a log record in the store refers to is in the store: the shipper puts
//     key files, catalogs and lists before the records that may name them. It reads the
//     records first and looks for the files afterwards, because a file is on disk before
//     its record is logged.
//  2. A sequence of log objects without a gap can be restored up to any entry in it, if it
//     begins with the log's first entry. With a snapshot that it can replay, it can be
//     restored up to any entry from the snapshot's newest one on.
//  3. Two copies of an exchange cannot both continue the backup. The fence and the claims in
//     the store name the current life of the log (wal.ReadEpoch), and an earlier life may not
//     ship. Within a life, a shipper must have all entries that were shipped before.
//  4. A key that a shipper has once listed in erased/ stays erased in every restore.
//  5. A failing backup does not slow the exchange: it only reads files and retries.
package backup
