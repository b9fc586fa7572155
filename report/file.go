package report

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// file is one SQLite file: one connection writes to it, some others read.
//
// A file that is built anew has another number in its name. A connection to the one
// before may end late, and SQLite then removes what it knows by the name: the new one's
// newest pages.
type file struct {
	path         string
	pool         *sql.DB
	writer       *sql.Conn
	readers      *sql.DB
	prepares     map[string]*sql.Stmt
	opened       [2]os.FileInfo // the file and its log, as they were opened
	position     position
	sources      *projection.Sources
	names        map[nameKey]bool // that the file has
	throttle     throttle         // of who writes
	checkpointer checkpointer
	openSums     *openSums
}

// place is of which log the file is and how far it goes.
type position struct {
	Life

	seq    uint64
	at     int64
	begins int64 // from when on all is there; zero: from the log's beginning
}

const (
	suffix           = ".db"
	readers          = 5        // two reports, two searches, and the overview
	readerCacheBytes = 16 << 20 // of a reader's cache of pages
)

// address is a file as the driver is told it.
func dsn(path, mode string, pragmas ...string) string {
	query := url.Values{"mode": {mode}, "_pragma": pragmas}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}

// numbered are the files of a folder by their numbers, and the highest of those.
func listFiles(dir string) (highest int, all map[int]string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	all = make(map[int]string)
	for _, e := range entries {
		if n, err := strconv.Atoi(strings.TrimSuffix(e.Name(), suffix)); err == nil && strings.HasSuffix(e.Name(), suffix) {
			all[n] = filepath.Join(dir, e.Name())
			highest = max(highest, n)
		}
	}
	return highest, all, err
}

// remove removes a file with what SQLite keeps beside it.
func removeFile(path string) error {
	var errs error
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = errors.Join(errs, err)
		}
	}
	return errs
}

// connect opens the writer. A file that is not there is made.
func connect(ctx context.Context, path string) (*file, error) {
	if err := histogram.Register(); err != nil {
		return nil, err
	}
	made, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := made.Close(); err != nil {
		return nil, err
	}
	f := &file{path: path, prepares: map[string]*sql.Stmt{}, sources: projection.NewSources(), names: map[nameKey]bool{}, throttle: throttle{sleep: time.Sleep}, openSums: newOpenSums()}
	f.pool, err = sql.Open("sqlite", dsn(path, "rw", "journal_mode(WAL)", "synchronous(NORMAL)", "busy_timeout(5000)", "wal_autocheckpoint(0)",
		"cache_size(-16384)", "journal_size_limit(25165824)", tempDir(path)))
	if err != nil {
		return nil, err
	}
	f.pool.SetMaxOpenConns(1)
	if f.writer, err = f.pool.Conn(ctx); err != nil {
		return nil, errors.Join(err, f.pool.Close())
	}
	if f.checkpointer.file, err = os.Open(path); err != nil {
		return nil, errors.Join(err, f.writer.Close(), f.pool.Close())
	}
	// One that ended between a checkpoint and its fsync may have said of pages that they
	// are in the file which the disk has not.
	if err := f.checkpointer.file.Sync(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// tempDir has SQLite, which is one for the process, sort what is more than its cache beside
// its file: a machine may have no other folder that can be written to.
func tempDir(path string) string {
	return "temp_store_directory('" + strings.ReplaceAll(filepath.Dir(path), "'", "''") + "')"
}

// finish opens the readers and notes which files these are.
func (f *file) openReaders() (err error) {
	if f.readers, err = sql.Open("sqlite", dsn(f.path, "rw", "query_only(1)", "busy_timeout(5000)", "cache_size(-"+strconv.Itoa(readerCacheBytes>>10)+")")); err != nil {
		return err
	}
	f.readers.SetMaxOpenConns(readers)
	f.opened, err = f.statFiles()
	return err
}

func (f *file) statFiles() (now [2]os.FileInfo, err error) {
	for i, end := range []string{"", "-wal"} {
		if now[i], err = os.Stat(f.path + end); err != nil {
			return now, err
		}
	}
	return now, nil
}

// errMoved is of a file that is no longer what its name means.
var errReplaced = errors.New("it was removed or replaced by something else while it was in use")

// there tells whether the file is still the one that was opened. SQLite would go on
// writing to one that nobody can find any more.
func (f *file) checkUnchanged() error {
	now, err := f.statFiles()
	if err != nil {
		return errors.Join(errReplaced, err)
	}
	for i := range now {
		if !os.SameFile(now[i], f.opened[i]) {
			return errReplaced
		}
	}
	return nil
}

// create makes the tables of a file that has none.
func (f *file) create(ctx context.Context, at position) error {
	for _, text := range []string{
		"PRAGMA application_id = " + strconv.Itoa(applicationID), "PRAGMA user_version = " + strconv.Itoa(schemaVersion), fullSchema(),
	} {
		if _, err := f.writer.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	f.position = at
	return f.exec(ctx, "INSERT INTO sources VALUES (?, ?)", projection.OtherSource, projection.OtherSourceName)
}

// errOther is of a file that is of no use here; nothing is wrong with it.
var errUnusable = errors.New("it is of another log, of another version of the program, or was never finished")

// accept sees that the file is ours, of this log and no further than it.
func (f *file) load(ctx context.Context, life Life, durable uint64) error {
	var id, version int
	row := f.writer.QueryRowContext(ctx, "SELECT a.application_id, v.user_version FROM pragma_application_id a, pragma_user_version v")
	if err := row.Scan(&id, &version); err != nil {
		return err
	}
	if id != applicationID || version != schemaVersion {
		return errUnusable
	}
	var exchange []byte
	row = f.writer.QueryRowContext(ctx, "SELECT exchange, epoch, seq, at, begins FROM place")
	err := row.Scan(&exchange, &f.position.Epoch, &f.position.seq, &f.position.at, &f.position.begins)
	if errors.Is(err, sql.ErrNoRows) {
		return errUnusable
	}
	if err != nil {
		return err
	}
	if copy(f.position.Exchange[:], exchange); f.position.Life != life || f.position.seq > durable {
		return errUnusable
	}
	if err := f.loadNames(ctx); err != nil {
		return err
	}
	return f.restoreOpenSums(ctx)
}

// recall reads which sources and names the file has.
func (f *file) loadNames(ctx context.Context) error {
	err := f.each(ctx, "SELECT ref, id FROM sources ORDER BY ref", func(row *sql.Rows) error {
		var ref int64
		var id string
		err := row.Scan(&ref, &id)
		f.sources.Restore(id, ref)
		return err
	})
	if err != nil {
		return err
	}
	return f.each(ctx, "SELECT kind, ref FROM names", func(row *sql.Rows) error {
		var key nameKey
		err := row.Scan(&key.kind, &key.ref)
		f.names[key] = true
		return err
	})
}

func (f *file) each(ctx context.Context, text string, take func(*sql.Rows) error, args ...any) error {
	found, err := f.writer.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		if err := take(found); err != nil {
			return err
		}
	}
	return found.Err()
}

func (f *file) exec(ctx context.Context, text string, args ...any) error {
	_, err := f.writer.ExecContext(ctx, text, args...)
	return err
}

// prepared is a statement of the writer, prepared once.
func (f *file) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if known := f.prepares[text]; known != nil {
		return known, nil
	}
	made, err := f.writer.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, text)
	}
	f.prepares[text] = made
	return made, nil
}

// close ends the connections; those that are being read end with their reading.
func (f *file) close() error {
	var errs error
	for _, s := range f.prepares {
		errs = errors.Join(errs, s.Close())
	}
	if f.readers != nil {
		errs = errors.Join(errs, f.readers.Close())
	}
	return errors.Join(errs, f.writer.Close(), f.pool.Close(), f.checkpointer.file.Close())
}
