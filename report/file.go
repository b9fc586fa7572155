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

	_ "modernc.org/sqlite" // the driver
	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// reportDatabase is one SQLite database of the report. One connection writes to it, and some
// others read.
//
// A rebuilt database has a new number in its file name. A connection to the previous file may
// close late. SQLite then deletes files by name, which would otherwise be the new database's
// newest pages.
type reportDatabase struct {
	path         string
	pool         *sql.DB
	writer       *sql.Conn
	readers      *sql.DB
	prepares     map[string]*sql.Stmt
	opened       [2]os.FileInfo // the file and its log at the time of opening
	position     databaseProgress
	sources      *projection.LeadSourceNumbering
	names        map[configObjectKey]bool // names that have a row
	throttle     writeThrottle            // for the writer
	checkpointer sqliteCheckpointer
	openSums     *openPeriodSums
}

// databaseProgress says how far a report's database has followed the log: which log, the last
// entry it contains, and the time from which on it is complete.
type databaseProgress struct {
	LogIdentity

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

// listDatabaseFiles returns the highest number of the report's database files in a folder, and
// the paths of all of them by number.
func listDatabaseFiles(dir string) (highestNumber int, pathsByNumber map[int]string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	pathsByNumber = make(map[int]string)
	for _, e := range entries {
		if n, err := strconv.Atoi(strings.TrimSuffix(e.Name(), suffix)); err == nil && strings.HasSuffix(e.Name(), suffix) {
			pathsByNumber[n] = filepath.Join(dir, e.Name())
			highestNumber = max(highestNumber, n)
		}
	}
	return highestNumber, pathsByNumber, err
}

// removeDatabaseFiles deletes a database and the files that SQLite keeps beside it.
func removeDatabaseFiles(path string) error {
	var errs error
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = errors.Join(errs, err)
		}
	}
	return errs
}

// openDatabaseForWriting opens a report's database for writing, and creates the file if it is missing.
func openDatabaseForWriting(ctx context.Context, path string) (*reportDatabase, error) {
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
	f := &reportDatabase{path: path, prepares: map[string]*sql.Stmt{}, sources: projection.NewLeadSourceNumbering(), names: map[configObjectKey]bool{}, throttle: newWriteThrottle(), openSums: newOpenPeriodSums()}
	f.pool, err = sql.Open("sqlite", dsn(path, "rw", "journal_mode(WAL)", "synchronous(NORMAL)", "busy_timeout(5000)", "wal_autocheckpoint(0)",
		"cache_size(-16384)", "journal_size_limit(25165824)", "secure_delete(FAST)", sqliteTempDirSetting(path)))
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

// sqliteTempDirSetting returns the SQLite setting (pragma) that makes SQLite sort large data in
// the database's folder, because a machine may have no other writable folder. The setting
// applies to the whole process.
func sqliteTempDirSetting(databasePath string) string {
	return "temp_store_directory('" + strings.ReplaceAll(filepath.Dir(databasePath), "'", "''") + "')"
}

// openReadConnections opens the connections for reading. It also records which files are
// open, for checkFileNotReplaced.
func (f *reportDatabase) openReadConnections() (err error) {
	if f.readers, err = sql.Open("sqlite", dsn(f.path, "rw", "query_only(1)", "busy_timeout(5000)", "cache_size(-"+strconv.Itoa(readerCacheBytes>>10)+")")); err != nil {
		return err
	}
	f.readers.SetMaxOpenConns(readers)
	f.opened, err = f.statFileAndWAL()
	return err
}

func (f *reportDatabase) statFileAndWAL() (infos [2]os.FileInfo, err error) {
	for i, end := range []string{"", "-wal"} {
		if infos[i], err = os.Stat(f.path + end); err != nil {
			return infos, err
		}
	}
	return infos, nil
}

// errReplaced reports that the file's name now belongs to another file.
var errReplaced = errors.New("the report's database file was deleted or replaced while it was in use")

// checkFileNotReplaced returns errReplaced if the file was deleted or replaced. SQLite would
// continue to write to the deleted file.
func (f *reportDatabase) checkFileNotReplaced() error {
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

// createTablesAndSetMemoryPosition creates the tables in an empty database and sets f.position. The caller must
// write the position to the database.
func (f *reportDatabase) createTablesAndSetMemoryPosition(ctx context.Context, position databaseProgress) error {
	for _, text := range []string{
		"PRAGMA application_id = " + strconv.Itoa(applicationID), "PRAGMA user_version = " + strconv.Itoa(schemaVersion), createAllTablesSQL(),
	} {
		if _, err := f.writer.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	f.position = position
	return f.executeStatement(ctx, "INSERT INTO sources VALUES (?, ?)", projection.OtherSource, projection.OtherSourceName)
}

// errUnusable reports an undamaged file that this report cannot use.
var errUnusable = errors.New("the report's database belongs to another log or program version, or was never finished")

// loadPositionNamesAndOpenSums reads the database's position in the log into f.position, its names,
// and its unfinished sums. It returns errUnusable if the database has another schema, follows
// another log, or has later entries than lastSeq, the log's last one. A power loss
// can remove entries of a cluster's node that its report has already.
func (f *reportDatabase) loadPositionNamesAndOpenSums(ctx context.Context, logIdentity LogIdentity, lastSeq uint64) error {
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
	if copy(f.position.Exchange[:], exchange); f.position.LogIdentity != logIdentity || f.position.seq > lastSeq {
		return errUnusable
	}
	if err := f.loadNames(ctx); err != nil {
		return err
	}
	return f.rebuildOpenPeriodSums(ctx)
}

// loadNames reads the lead sources and the configured names that the database already
// contains, so that they are not written again.
func (f *reportDatabase) loadNames(ctx context.Context) error {
	err := f.forEachQueryRow(ctx, "SELECT ref, id FROM sources ORDER BY ref", func(row *sql.Rows) error {
		var ref int64
		var id string
		err := row.Scan(&ref, &id)
		f.sources.RestoreNumber(id, ref)
		return err
	})
	if err != nil {
		return err
	}
	return f.forEachQueryRow(ctx, "SELECT kind, ref FROM names", func(row *sql.Rows) error {
		var key configObjectKey
		err := row.Scan(&key.kind, &key.ref)
		f.names[key] = true
		return err
	})
}

func (f *reportDatabase) forEachQueryRow(ctx context.Context, query string, visit func(*sql.Rows) error, args ...any) error {
	found, err := f.writer.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		if err := visit(found); err != nil {
			return err
		}
	}
	return found.Err()
}

func (f *reportDatabase) executeStatement(ctx context.Context, statement string, args ...any) error {
	_, err := f.writer.ExecContext(ctx, statement, args...)
	return err
}

// prepareCached returns a prepared statement of the writing connection. It prepares each query
// only once.
func (f *reportDatabase) prepareCached(ctx context.Context, query string) (*sql.Stmt, error) {
	if known := f.prepares[query]; known != nil {
		return known, nil
	}
	made, err := f.writer.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, query)
	}
	f.prepares[query] = made
	return made, nil
}

// close closes the database's connections. A connection that is reading closes when the
// reading ends.
func (f *reportDatabase) close() error {
	var errs error
	for _, s := range f.prepares {
		errs = errors.Join(errs, s.Close())
	}
	if f.readers != nil {
		errs = errors.Join(errs, f.readers.Close())
	}
	return errors.Join(errs, f.writer.Close(), f.pool.Close(), f.checkpointer.file.Close())
}
