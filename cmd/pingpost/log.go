package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/engine/event"
	"pingpost/exchange"
	"pingpost/keys/vault"
	"pingpost/wal"
)

type logCmd struct {
	Dump   logDumpCmd        `cmd:"" help:"Print the log's events, one JSON object a line, without contact data."`
	Verify logVerifyCmd      `cmd:"" help:"Check every byte of the log, the archive and the snapshots, and the keys of leads."`
	Hash   logStateHashCmd   `cmd:"" help:"Replay the log and print the state's hash. Equal logs have equal hashes."`
	Accept logCutAtDamageCmd `cmd:"" help:"Accept the loss of a damaged log's end: cut it at the damage, keeping a copy."`
}

type logDumpCmd struct {
	Dir  string `arg:"" type:"existingdir" help:"The exchange's data directory. It may be in use."`
	From uint64 `help:"First entry; the oldest one by default." placeholder:"SEQ"`
	To   uint64 `help:"Last entry; the newest one by default." placeholder:"SEQ"`
}

// Run prints the log's entries as JSON, one a line.
func (c *logDumpCmd) Run() error {
	reader, err := wal.NewReader(c.Dir, c.From)
	if err != nil {
		return fmt.Errorf("cannot read the log in %q: %w", c.Dir, err)
	}
	defer reader.Close()
	out := bufio.NewWriter(os.Stdout)
	return errors.Join(printEntriesAsJSON(reader, out, c.To), out.Flush())
}

// printEntriesAsJSON prints the log's entries up to lastSeq (0: all), one JSON object a line.
func printEntriesAsJSON(reader *wal.Reader, out io.Writer, lastSeq uint64) error {
	var decoder event.Decoder
	for {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) || (err == nil && lastSeq != 0 && entry.Seq > lastSeq) {
			return nil
		}
		if err != nil {
			return err
		}
		fact, err := decoder.Decode(entry.Data)
		if err != nil {
			return fmt.Errorf("cannot decode log entry %d: %w", entry.Seq, err)
		}
		at := time.Unix(0, entry.At).UTC().Format(time.RFC3339Nano)
		_, err = fmt.Fprintf(out, `{"seq":%d,"at":%q,"kind":%q,"fact":%s}`+"\n", entry.Seq, at, fact.Kind(), event.DescribeAsJSON(fact))
		if err != nil {
			return fmt.Errorf("cannot print: %w", err)
		}
	}
}

type logVerifyCmd struct {
	Dir string `arg:"" type:"existingdir" help:"The exchange's data directory. It may be in use."`
}

// Run checks the log, its snapshots and the lead keys, and prints the result. The exit code
// is 1 after damage.
func (c *logVerifyCmd) Run() error {
	shown := terminal.NewProgress(os.Stderr)
	report, err := wal.Verify(c.Dir, func(done, total int64) { shown.ShowPercentAndTimeLeft("reading the log", done, total) })
	shown.End()
	if err != nil {
		return fmt.Errorf("cannot verify the log in %q: %w", c.Dir, err)
	}
	printLogVerification(&report)
	keysGood, err := verifyLeadKeysAndPrintResult(c.Dir)
	if err != nil {
		return err
	}
	if !report.OK() || !keysGood {
		return terminal.ExitCodeError(1)
	}
	fmt.Println("good")
	return nil
}

// verifyLeadKeysAndPrintResult checks the keys that encrypt the leads in the log, and prints the result. It
// skips the check, and returns true, if the exchange's key is missing or the log is damaged.
func verifyLeadKeysAndPrintResult(dataDir string) (noDamageFound bool, err error) {
	keys, err := exchange.CheckLeadKeys(dataDir)
	if errors.Is(err, vault.ErrMissing) {
		fmt.Println("keys       not checked: keys/exchange.key is not here")
		return true, nil
	}
	if errors.Is(err, wal.ErrDamaged) {
		fmt.Println("keys       not checked: the log is damaged")
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot check the keys in %q: %w", dataDir, err)
	}
	if len(keys.Problems) == 0 {
		fmt.Printf("keys       of %d leads in %d files\n", keys.Leads, keys.Files)
	}
	for _, note := range keys.Notes {
		fmt.Println("keys       " + note)
	}
	if keys.FilesWithoutChecksums > 0 {
		fmt.Printf("keys       %d files have no usable checksums, so changed keys in them cannot be found; the exchange's next start creates the checksums\n", keys.FilesWithoutChecksums)
	}
	for _, problem := range keys.Problems {
		fmt.Println("DAMAGE     " + problem)
	}
	return len(keys.Problems) == 0, nil
}

// printLogVerification prints what the check of a log has found: its entries, snapshots and damage.
func printLogVerification(r *wal.VerifyReport) {
	fmt.Printf("entries    %d to %d (%d), %d bytes in %d segments, epoch %d\n", r.First, r.Last, r.Entries, r.Bytes, r.Segments, r.Epoch)
	for _, snapshot := range r.Snapshots {
		fmt.Printf("snapshot   of entry %d, %d bytes: good\n", snapshot.Newest, snapshot.Bytes)
	}
	for _, bad := range r.BadSnapshots {
		fmt.Printf("snapshot   %s: %v\n", bad.Path, bad.Err)
	}
	if r.Torn != nil {
		fmt.Println("torn end   (no loss: the next start cuts it): " + r.Torn.Reason)
	}
	for _, damage := range r.Damage {
		fmt.Println("DAMAGE     " + damage.Error())
	}
}

type logStateHashCmd struct {
	Dir string `arg:"" type:"existingdir" help:"The exchange's data directory. It may be in use."`
	At  uint64 `help:"The entry to stop at; the newest by default." placeholder:"SEQ"`
}

// Run replays the log up to an entry and prints the hash of the resulting state.
func (c *logStateHashCmd) Run() error {
	seq, hash, err := exchange.StateHash(c.Dir, c.At)
	if err != nil {
		return err
	}
	fmt.Printf(`{"seq":%d,"hash":"%016x"}`+"\n", seq, hash)
	return nil
}

type logCutAtDamageCmd struct {
	Dir string `arg:"" type:"existingdir" help:"The exchange's data directory. The exchange must not run."`
	Yes bool   `required:"true" help:"Confirm that acknowledged events after the damage are lost."`
}

// Run cuts a damaged log at the damage, so that the exchange can start again.
func (c *logCutAtDamageCmd) Run() error {
	loss, err := exchange.CutLogAtDamage(c.Dir, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	if loss.Damage == nil {
		fmt.Println("the log is not damaged; nothing was changed")
		return nil
	}
	fmt.Printf("cut; the log ends with entry %d now, in epoch %d; copies of what was cut are in %s\n", loss.Last, loss.Epoch, loss.Kept)
	return nil
}
