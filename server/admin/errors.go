package admin

import (
	"pingpost/api/errcode"
	"pingpost/server/httperror"
)

var (
	errConfigTooLarge   = httperror.New(413, errcode.PayloadTooLarge, "The configuration is larger than 4 MiB. Write a larger one to the configuration file, and send SIGHUP.")
	errEntryTooLarge    = httperror.New(413, errcode.PayloadTooLarge, "The entry is larger than 1 MiB. Write a larger one to the configuration file, and send SIGHUP.")
	errListTooLarge     = httperror.New(413, errcode.PayloadTooLarge, "The suppression list exceeds 4 GiB or 50,000,000 entries. Divide it into several lists.")
	errUploadUnderWay   = httperror.New(409, errcode.Conflict, "Another suppression list is being uploaded. Send this one after that upload has ended.")
	errApplyUnderWay    = httperror.New(409, errcode.Conflict, "Another configuration is being applied. Check its changes, then send this one again.")
	errCrossOrigin      = httperror.New(403, errcode.Forbidden, "A page of another origin sent this request through a browser. Send it from a page of this address, or without a browser.")
	errNotAuthenticated = httperror.New(401, errcode.Unauthorized, "Authentication is required: a session, a personal API token as a bearer token, or HTTP Basic with a user's name and password, or with any name and the configured password.")
	errBadPassword      = httperror.New(401, errcode.Unauthorized, "The password is wrong. Send the configured password by HTTP Basic, with any user name.").AsWrongCredential()
)
