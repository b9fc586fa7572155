// Package backup copies a log that is in use to another place, and makes an
// exchange's folder from the copy again, at any entry or time.
//
// The hardest first. A copy has to be restorable at every instant, whatever broke
// off in the middle, and it has to be so without reading what was put there: the
// one who ships has the recipient of the encryption alone. So everything that
// is put is whole, never changes, and says in its name which place it has; what is
// there is known by a listing. There is no index that could disagree with it.
//
// # In the store
//
//	fence/<10 digits>                     who may ship: fence.go
//	gen/<10 digits>/claim                 a generation: one log, copied from its beginning
//	gen/<…>/whole-<size>                  manifest, last: all that the log had then is here
//	gen/<…>/log/<first>-<last>-<time>-<size>-<sum>    records of the log
//	gen/<…>/snapshot/<newest>/<n>-<size>-<sum>        a snapshot file in pieces
//	gen/<…>/snapshot/<newest>/whole-<size>            and its manifest, last
//	gen/<…>/file/<folder>/<name>/…                    a file beside the log, likewise
//	keys/<path>/<size>-<sum>              key files, apart from generations: keys.go
//	erased/<path>/<size>-<sum>            which of their keys are erased, for ever
//
// The size is that of the object as it is stored, so a half one is known by the
// listing and passed over. The sum is an HMAC-SHA-256 of what was put and of its
// place, under a key that follows from the exchange's own: who reads the listing
// alone can guess at no content by it. Claims, fences and manifests have theirs inside:
// sign.go.
//
// # What holds
//
//  1. What a fact in the store refers to is in the store: key files, catalogs and lists
//     go before the records that may name them. They were on the disk before the
//     fact was logged, so they are looked for after the records were read.
//  2. Any unbroken run of log objects from the log's beginning, or from a snapshot's
//     oldest stamp, can be restored up to any entry in it.
//  3. Two copies of an exchange do not both go on: each life of a log (wal.ReadEpoch)
//     is fenced, by a fence or by the claim of a generation, and within a life who ships must have what was shipped.
//  4. A key that was seen erased stays erased, whichever moment is restored.
//  5. A backup that fails slows nobody: it reads files, holds none, and tries again.
package backup
