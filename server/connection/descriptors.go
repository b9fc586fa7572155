package connection

import (
	"log/slog"
)

// reservedDescriptors is the number of file descriptors reserved for the log, for connections
// to buyers and for operators.
const reservedDescriptors = 512

// LimitConnectionsToOpenFiles returns how many of the wantedConnections fit into the process's
// limit of open files (maxOpenFiles; 0 if unknown). It leaves reservedDescriptors of the limit, or
// half of a small limit, for other files. It logs a warning if not all connections fit.
func LimitConnectionsToOpenFiles(wantedConnections int, maxOpenFiles uint64, logger *slog.Logger) int {
	if maxOpenFiles == 0 || uint64(wantedConnections)+reservedDescriptors <= maxOpenFiles {
		return wantedConnections
	}
	fit := max(int(maxOpenFiles)-reservedDescriptors, int(maxOpenFiles)/2, 1)
	if fit >= wantedConnections {
		return wantedConnections
	}
	logger.Warn("limits.connections exceeds the limit of open files and was lowered; raise the limit of open files (ulimit -n, or LimitNOFILE of systemd)",
		"connections", wantedConnections, "open_files", maxOpenFiles, "now", fit)
	return fit
}
