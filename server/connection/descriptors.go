package connection

import (
	"log/slog"
)

// reservedDescriptors is the number of file descriptors reserved for the log, for connections
// to buyers and for operators.
const reservedDescriptors = 512

// LimitConnectionsToOpenFiles returns how many of the wanted connections fit into the process's
// limit of open files (descriptors; 0 if unknown). It logs a warning if they do not all fit.
func LimitConnectionsToOpenFiles(wanted int, descriptors uint64, logger *slog.Logger) int {
	if descriptors == 0 || uint64(wanted)+reservedDescriptors <= descriptors {
		return wanted
	}
	fit := max(int(descriptors)-reservedDescriptors, int(descriptors)/2, 1)
	if fit >= wanted {
		return wanted
	}
	logger.Warn("limits.connections exceeds the limit of open files and was lowered; raise the limit of open files (ulimit -n, or LimitNOFILE of systemd)",
		"connections", wanted, "open_files", descriptors, "now", fit)
	return fit
}
