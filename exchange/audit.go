package exchange

import (
	"errors"
	"fmt"
	"path/filepath"

	"pingpost/config/canonical"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/server/admin/audit"
	"pingpost/server/httperror"
)

// The operations of the audit log that no request causes.
const (
	operationStart  = "start"
	operationReload = "reload" // SIGHUP
)

// activateAndAuditRevisionFromFileLocked activates a revision that comes from the configuration file,
// at a start or a reload. If it changes the configuration, the audit log has the changes before they
// take effect, and then the outcome. The caller holds configMu.
func (x *Exchange) activateAndAuditRevisionFromFileLocked(operation string, r *pendingRevision) error {
	changes := x.listChangesSinceLastActive(operation, r)
	if len(changes) == 0 {
		return x.activateRevisionLocked(r)
	}
	actions := x.engine.Load().AsOperator("")
	begun := event.OperatorActionRecorded{
		Action: httperror.NewRequestID(), Phase: event.ActionBegun, Operation: operation,
		TargetKind: "configuration", Target: filepath.Base(x.path), Result: audit.EncodeChanges(changes),
	}
	if err := actions.RecordAction(&begun); err != nil {
		return fmt.Errorf("cannot record the change of the configuration in the audit log: %w", err)
	}
	err := x.activateRevisionLocked(r)
	ended := event.OperatorActionRecorded{Action: begun.Action, Phase: event.ActionEnded, Status: 200}
	if err != nil {
		ended.Status = 500
	}
	if recordErr := actions.RecordAction(&ended); recordErr != nil && !engine.IsEndOfLeadership(recordErr) {
		x.logger.Error("cannot record in the audit log whether the change of the configuration succeeded", "error", recordErr)
	}
	return err
}

// listChangesSinceLastActive returns the changes from the last active configuration to the revision. At a
// start it reads the last one from its stored document, and all changes take effect now.
func (x *Exchange) listChangesSinceLastActive(operation string, r *pendingRevision) (changes []string) {
	before, err := x.sharedDocument(x.ActiveConfigurationJSON())
	after, errAfter := x.sharedDocument(r.Canonical)
	if err = errors.Join(err, errAfter); err != nil {
		panic("BUG: a canonical configuration is no JSON: " + err.Error())
	}
	if stored := x.state.CurrentConfigVersion().Document; before == nil && stored != "" {
		if before, err = x.readStoredConfigDocument(stored); err != nil {
			changes = append(changes, "the previous configuration cannot be read; the next lines list all settings and entries as new")
		}
	}
	for _, change := range canonical.Diff(before, after) {
		if operation == operationStart {
			changes = append(changes, change.TextWithoutRestartNote())
		} else {
			changes = append(changes, change.String())
		}
	}
	return append(changes, x.listChangedEndpointVariables(&r.Initial)...)
}
