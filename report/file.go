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

// reportFile is one SQLite database of the report. One connection writes to it, and some
// others read.
//
// A rebuilt database has a new number in its file name. A connection to the previous file may
// close late. SQLite then deletes files by name, which would otherwise be the new database's
// newest pages.
type reportFile struct {
	path         string
	pool         *sql.DB
	writer       *sql.Conn
	readers      *sql.DB
	prepares     map[string]*sql.Stmt
	opened       [2]os.FileInfo // the file and its log at the time of opening
	position     filePosition
	sources      *projection.Sources
	names        map[nameKey]bool // names that have a row
	throttle     writeThrottle    // for the writer
	checkpointer checkpointer
	openSums     *openSums
}

// filePosition says how far a report's database has followed the log: which log, the last
// entry it contains, and the time from which on it is complete.
type filePosition struct {
	Life

	seq    uint64
	at     int64
	begins int64 // complete from this time on; zero: from the log's beginning
}

const (
	suffix           = ".db"
	readers          = 5        // two reports, two searches, and the overview
	readerCacheBytes = 16 << 20 // page cache of a reader
)

// dsn returns the name by which the SQLite driver opens the file at path, with an access mode
// and settings (pragmas).
func dsn(path, mode string, pragmas ...string) string {
	query := url.Values{"mode": {mode}, "_pragma": pragmas}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}

// listReportFiles returns the paths of the report's database files in a folder by their
// numbers, and the highest number.
func listReportFiles(dir string) (highest int, all map[int]string, err error) {
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

// removeFile deletes a database and the files that SQLite keeps beside it.
func removeFile(path string) error {
	var errs error
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = errors.Join(errs, err)
		}
	}
	return errs
}

// openDatabase opens a report's database for writing, and creates the file if it is missing.
func openDatabase(ctx context.Context, path string) (*reportFile, error) {
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
	f := &reportFile{path: path, prepares: map[string]*sql.Stmt{}, sources: projection.NewSources(), names: map[nameKey]bool{}, throttle: writeThrottle{sleep: time.Sleep}, openSums: newOpenSums()}
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
	// A process that ended between a checkpoint and its fsync may have marked pages as
	// moved that the disk does not have.
	if err := f.checkpointer.file.Sync(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// tempDir returns the SQLite setting (pragma) that makes SQLite sort large data in the
// database's folder, because a machine may have no other writable folder. The setting applies
// to the whole process.
func tempDir(path string) string {
	return "temp_store_directory('" + strings.ReplaceAll(filepath.Dir(path), "'", "''") + "')"
}

// openReadConnections opens the connections for reading. It also records which files are
// open, for checkNotReplaced.
func (f *reportFile) openReadConnections() (err error) {
	if f.readers, err = sql.Open("sqlite", dsn(f.path, "rw", "query_only(1)", "busy_timeout(5000)", "cache_size(-"+strconv.Itoa(readerCacheBytes>>10)+")")); err != nil {
		return err
	}
	f.readers.SetMaxOpenConns(readers)
	f.opened, err = f.statFileAndWAL()
	return err
}

func (f *reportFile) statFileAndWAL() (now [2]os.FileInfo, err error) {
	for i, end := range []string{"", "-wal"} {
		if now[i], err = os.Stat(f.path + end); err != nil {
			return now, err
		}
	}
	return now, nil
}

// errReplaced reports that the file's name now belongs to another file.
var errReplaced = errors.New("the report's file was deleted or replaced while it was in use")

// checkNotReplaced returns errReplaced if the file was deleted or replaced. SQLite would
// continue to write to the deleted file.
func (f *reportFile) checkNotReplaced() error {
	now, err := f.statFileAndWAL()
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

// createTables creates the tables in an empty database and sets its position in the log.
func (f *reportFile) createTables(ctx context.Context, at filePosition) error {
	for _, text := range []string{
		"PRAGMA application_id = " + strconv.Itoa(applicationID), "PRAGMA user_version = " + strconv.Itoa(schemaVersion), fullSchema(),
	} {
		if _, err := f.writer.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	f.position = at
	return f.execute(ctx, "INSERT INTO sources VALUES (?, ?)", projection.OtherSource, projection.OtherSourceName)
}

// errUnusable reports an undamaged file that this report cannot use.
var errUnusable = errors.New("the report's file belongs to another log or program version, or was never finished")

// loadPosition reads the database's position in the log into f.position. It returns
// errUnusable if the database has another schema, follows another log, or has later entries
// than durable, the log's last one.
func (f *reportFile) loadPosition(ctx context.Context, life Life, durable uint64) error {
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
	return f.loadOpenSums(ctx)
}

// loadNames reads the lead sources and the configured names that the database already
// contains, so that they are not written again.
func (f *reportFile) loadNames(ctx context.Context) error {
	err := f.eachRow(ctx, "SELECT ref, id FROM sources ORDER BY ref", func(row *sql.Rows) error {
		var ref int64
		var id string
		err := row.Scan(&ref, &id)
		f.sources.Restore(id, ref)
		return err
	})
	if err != nil {
		return err
	}
	return f.eachRow(ctx, "SELECT kind, ref FROM names", func(row *sql.Rows) error {
		var key nameKey
		err := row.Scan(&key.kind, &key.ref)
		f.names[key] = true
		return err
	})
}

func (f *reportFile) eachRow(ctx context.Context, text string, do func(*sql.Rows) error, args ...any) error {
	found, err := f.writer.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		if err := do(found); err != nil {
			return err
		}
	}
	return found.Err()
}

func (f *reportFile) execute(ctx context.Context, text string, args ...any) error {
	_, err := f.writer.ExecContext(ctx, text, args...)
	return err
}

// prepareOnce returns a prepared statement of the writing connection. It prepares each text
// only once.
func (f *reportFile) prepareOnce(ctx context.Context, text string) (*sql.Stmt, error) {
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

// close closes the database's connections. A connection that is reading closes when the
// reading ends.
func (f *reportFile) close() error {
	var errs error
	for _, s := range f.prepares {
		errs = errors.Join(errs, s.Close())
	}
	if f.readers != nil {
		errs = errors.Join(errs, f.readers.Close())
	}
	return errors.Join(errs, f.writer.Close(), f.pool.Close(), f.checkpointer.file.Close())
}
