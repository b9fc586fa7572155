package canonical

import (
	"bytes"
	"encoding/json"
	"strings"

	"pingpost/config/syntax"
)

// CheckSentEntryAndAddID returns the entry that an operator has sent (sentEntry), with the id of ref added
// if it is missing. The error is *syntax.Problems if the entry is not a mapping, has another id, or
// is a suppression list that names a file.
func CheckSentEntryAndAddID(sentEntry []byte, ref EntryRef) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(sentEntry, &members); err != nil || members == nil {
		return nil, syntax.Problems{{Path: ref.String(), Message: "expected a mapping"}}.Err()
	}
	if _, there := members["file"]; there && ref.Kind == Lists {
		return nil, syntax.Problems{{Path: ref.String() + ".file", Message: "is allowed only in a configuration file; send the list's entries with PUT /admin/v1/suppression/" + ref.ID}}.Err()
	}
	id, there := members["id"]
	if !there {
		quoted, err := json.Marshal(ref.ID)
		if err != nil {
			return nil, err
		}
		rest := strings.TrimLeft(strings.TrimLeft(string(sentEntry), " \t\r\n")[1:], " \t\r\n")
		if rest[0] != '}' {
			rest = "," + rest
		}
		return json.RawMessage(`{"id":` + string(quoted) + rest), nil
	}
	var said string
	if err := json.Unmarshal(id, &said); err != nil || said != ref.ID {
		return nil, syntax.Problems{{Path: ref.String() + ".id", Message: "differs from the id in the request's path; an id cannot change: create a new entry and remove the old one"}}.Err()
	}
	return sentEntry, nil
}

// secretKeys are the keys that hold a secret.
var secretKeys = map[string]bool{"api_key": true, "bearer": true, "client_secret": true, "secret": true, "token": true, "password": true}

// RedactSecretsInJSON returns a JSON text in which {"set":true} replaces the secrets. It returns
// nil if the text is not JSON. It does not check the text otherwise.
func RedactSecretsInJSON(text []byte) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil
	}
	redactSecretsIn(value)
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return text
}

// redactSecretsIn replaces the secrets inside a decoded JSON value by {"set":true}.
func redactSecretsIn(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			if _, said := inner.(map[string]any); secretKeys[key] && !said {
				value[key] = map[string]any{"set": true}
			} else {
				redactIfNamedSecrets(key, inner)
				redactSecretsIn(inner)
			}
		}
	case []any:
		for _, inner := range value {
			redactSecretsIn(inner)
		}
	}
}

// redactIfNamedSecrets replaces the values of a buyer's named secrets by {"set":true}. It acts
// only if key is "secrets".
func redactIfNamedSecrets(key string, value any) {
	list, _ := value.([]any)
	for _, item := range list {
		if named, ok := item.(map[string]any); ok && key == "secrets" {
			if _, said := named["value"].(map[string]any); !said {
				named["value"] = map[string]any{"set": true}
			}
		}
	}
}
