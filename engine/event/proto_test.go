package event

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"pingpost/engine/market"
)

var (
	protoBlock = regexp.MustCompile(`^(message|enum) (\w+) \{$`)
	protoField = regexp.MustCompile(`^(repeated )?(\w+) (\w+) = (\d+);$`)
	protoValue = regexp.MustCompile(`^(\w+) = (\d+);$`)
)

var protoScalars = map[string]descriptorpb.FieldDescriptorProto_Type{
	"bool": descriptorpb.FieldDescriptorProto_TYPE_BOOL, "bytes": descriptorpb.FieldDescriptorProto_TYPE_BYTES,
	"string": descriptorpb.FieldDescriptorProto_TYPE_STRING, "sint64": descriptorpb.FieldDescriptorProto_TYPE_SINT64,
	"uint32": descriptorpb.FieldDescriptorProto_TYPE_UINT32, "uint64": descriptorpb.FieldDescriptorProto_TYPE_UINT64,
	"fixed64": descriptorpb.FieldDescriptorProto_TYPE_FIXED64, "sfixed64": descriptorpb.FieldDescriptorProto_TYPE_SFIXED64,
}

// readProto parses the subset of the language that event.proto uses: one statement per line, not
// nested.
func readProto(t *testing.T) protoreflect.FileDescriptor {
	text, err := os.ReadFile("event.proto")
	if err != nil {
		t.Fatal(err)
	}
	file := &descriptorpb.FileDescriptorProto{
		Name: proto.String("event.proto"), Package: proto.String("pingpost.event"), Syntax: proto.String("proto3"),
	}
	enums := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^enum (\w+)`).FindAllStringSubmatch(string(text), -1) {
		enums[found[1]] = true
	}
	within := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		block, field, value := protoBlock.FindStringSubmatch(line), protoField.FindStringSubmatch(line), protoValue.FindStringSubmatch(line)
		switch {
		case line == "", line == `syntax = "proto3";`, line == "package pingpost.event;":
		case line == "}":
			within = ""
		case block != nil:
			if within = block[1]; within == "message" {
				file.MessageType = append(file.MessageType, &descriptorpb.DescriptorProto{Name: &block[2]})
			} else {
				file.EnumType = append(file.EnumType, &descriptorpb.EnumDescriptorProto{Name: &block[2]})
			}
		case field != nil && within == "message":
			message := file.MessageType[len(file.MessageType)-1]
			message.Field = append(message.Field, protoFieldOf(field, enums))
		case value != nil && within == "enum":
			number, _ := strconv.ParseInt(value[2], 10, 32)
			enum := file.EnumType[len(file.EnumType)-1]
			enum.Value = append(enum.Value, &descriptorpb.EnumValueDescriptorProto{Name: &value[1], Number: proto.Int32(int32(number))})
		default:
			t.Fatalf("event.proto: this test cannot read %q", line)
		}
	}
	read, err := protodesc.NewFile(file, nil)
	if err != nil {
		t.Fatalf("event.proto: %v", err)
	}
	return read
}

func protoFieldOf(statement []string, enums map[string]bool) *descriptorpb.FieldDescriptorProto {
	number, _ := strconv.ParseInt(statement[4], 10, 32)
	f := &descriptorpb.FieldDescriptorProto{
		Name: &statement[3], Number: proto.Int32(int32(number)), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
	}
	if statement[1] != "" {
		f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	}
	scalar, ok := protoScalars[statement[2]]
	switch {
	case ok:
		f.Type = scalar.Enum()
	case enums[statement[2]]:
		f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum(), proto.String(".pingpost.event."+statement[2])
	default:
		f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), proto.String(".pingpost.event."+statement[2])
	}
	return f
}

// differences returns the fields that only the bytes or only the description has. All fields of
// the message are filled.
func differences(path string, m protoreflect.Message) (found []string) {
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		found = append(found, fmt.Sprintf("%s: not described, or with another type: %x", path, unknown))
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		at := fmt.Sprintf("%s.%s = %d", path, field.Name(), field.Number())
		switch {
		case !m.Has(field):
			found = append(found, at+": described, but not encoded")
		case field.IsList() && field.Message() != nil:
			for k := range m.Get(field).List().Len() {
				found = append(found, differences(at, m.Get(field).List().Get(k).Message())...)
			}
		case field.Message() != nil:
			found = append(found, differences(at, m.Get(field).Message())...)
		}
	}
	return found
}

func protoName(kind Kind) protoreflect.Name {
	name := ""
	for word := range strings.SplitSeq(kind.String(), "_") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return protoreflect.Name(name)
}

// A protobuf library with event.proto decodes and encodes events as the codec does.
func TestProtoFileMatchesCodec(t *testing.T) {
	file := readProto(t)
	for _, e := range emptyEvents() {
		fill(e)
		wrapped := dynamicpb.NewMessage(file.Messages().ByName("Envelope"))
		if err := proto.Unmarshal(AppendRecord(nil, e), wrapped); err != nil {
			t.Fatal(err)
		}
		for _, difference := range differences("Envelope", wrapped) {
			t.Error(difference)
		}
		fields := wrapped.Descriptor().Fields()
		name := protoreflect.Name("KIND_" + strings.ToUpper(e.Kind().String()))
		if value := file.Enums().ByName("Kind").Values().ByName(name); value == nil || Kind(value.Number()) != e.Kind() {
			t.Errorf("kind %d is not described as %s", e.Kind(), name)
		}
		described := file.Messages().ByName(protoName(e.Kind()))
		if described == nil {
			t.Errorf("event.proto has no message %s", protoName(e.Kind()))
			continue
		}
		message := dynamicpb.NewMessage(described)
		if err := proto.Unmarshal(wrapped.Get(fields.ByName("fact")).Bytes(), message); err != nil {
			t.Errorf("%s: %v", described.Name(), err)
			continue
		}
		for _, difference := range differences(string(described.Name()), message) {
			t.Error(difference)
		}
		written, err := proto.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		var d Decoder
		if decoded, err := d.Decode(envelope(uint32(e.Kind()), version, written)); err != nil || !equalEvents(e, decoded) {
			t.Errorf("the library encoded %+v\ndecoded as %+v, %v", e, decoded, err)
		}
	}
}

func TestProtoFileDescribesPersonalData(t *testing.T) {
	contact := LeadPersonalData{Fields: []LeadField{{"phone", 1, []byte("+14155550123")}}, Body: []byte("{}")}
	described := dynamicpb.NewMessage(readProto(t).Messages().ByName("Contact"))
	if err := proto.Unmarshal(contact.AppendEncoded(nil), described); err != nil {
		t.Fatal(err)
	}
	for _, difference := range differences("Contact", described) {
		t.Error(difference)
	}
}

// Every number of an enum has the code's name in event.proto.
func TestProtoFileDescribesEnums(t *testing.T) {
	want := map[string]map[int32]string{
		"Kind": {0: "KIND_UNSPECIFIED"}, "Settlement": {0: "SETTLEMENT_UNSPECIFIED"},
		"NameKind": {
			0: "NAME_UNSPECIFIED", int32(ObjectSupplier): "NAME_SUPPLIER", int32(ObjectBuyer): "NAME_BUYER",
			int32(ObjectCampaign): "NAME_CAMPAIGN", int32(ObjectList): "NAME_LIST",
		},
		"CredentialKind": {
			0: "CREDENTIAL_UNSPECIFIED", int32(CredentialAPIKey): "CREDENTIAL_API_KEY",
			int32(CredentialOAuthClient): "CREDENTIAL_OAUTH_CLIENT", int32(CredentialBearer): "CREDENTIAL_BEARER",
		},
		"ChangeResult": {0: "CHANGE_UNSPECIFIED"}, "HookOutcome": {0: "HOOK_OUTCOME_UNSPECIFIED"}, "HookType": {},
		"Role": {0: "ROLE_UNSPECIFIED"}, "AlertTransition": {0: "ALERT_TRANSITION_UNSPECIFIED"}, "ActionPhase": {0: "ACTION_PHASE_UNSPECIFIED"}, "OperatorCredential": {}, "SecondFactorChange": {0: "SECOND_FACTOR_UNSPECIFIED"},
		"ReportMailOutcome": {0: "REPORT_MAIL_UNSPECIFIED"},
	}
	for p := ActionBegun; p <= ActionWhole; p++ {
		want["ActionPhase"][int32(p)] = "ACTION_" + strings.ToUpper(p.String())
	}
	for c := ByNoCredential; c <= ByOIDC; c++ {
		want["OperatorCredential"][int32(c)] = "OPERATOR_CREDENTIAL_" + strings.ToUpper(c.String())
	}
	for a := AlertFired; a.String() != "invalid"; a++ {
		name := strings.ToUpper(a.String())
		if a <= AlertAnnounced {
			name = "ALERT_" + name
		}
		want["AlertTransition"][int32(a)] = name
	}
	for o := ReportMailSent; o.String() != "invalid"; o++ {
		want["ReportMailOutcome"][int32(o)] = "REPORT_MAIL_" + strings.ToUpper(o.String())
	}
	for _, e := range emptyEvents() {
		want["Kind"][int32(e.Kind())] = "KIND_" + strings.ToUpper(e.Kind().String())
	}
	for r := market.RoleViewer; r <= market.RoleAdmin; r++ {
		want["Role"][int32(r)] = "ROLE_" + strings.ToUpper(r.String())
	}
	for c := SecondFactorEnrolled; c < secondFactorChangeEnd; c++ {
		want["SecondFactorChange"][int32(c)] = "SECOND_FACTOR_" + strings.ToUpper(c.String())
	}
	for s := SettledDelivered; s.String() != "invalid"; s++ {
		want["Settlement"][int32(s)] = "SETTLEMENT_" + strings.ToUpper(s.String())
	}
	for r := ChangeDone; r < changeResultEnd; r++ {
		want["ChangeResult"][int32(r)] = "CHANGE_" + strings.ToUpper(r.String())
	}
	for o := WebhookDelivered; o < webhookOutcomeEnd; o++ {
		want["HookOutcome"][int32(o)] = "HOOK_" + strings.ToUpper(o.String())
	}
	for number := range market.WebhookTypeCount {
		name := strings.TrimPrefix(market.WebhookType(number).String(), "lead.")
		want["HookType"][int32(number)] = "HOOK_" + strings.ToUpper(name)
	}
	enums := readProto(t).Enums()
	for i := range enums.Len() {
		enum := enums.Get(i)
		names := want[string(enum.Name())]
		if enum.Values().Len() != len(names) {
			t.Errorf("%s has %d values, event.proto has %d", enum.Name(), len(names), enum.Values().Len())
		}
		for k := range enum.Values().Len() {
			if value := enum.Values().Get(k); names[int32(value.Number())] != string(value.Name()) {
				t.Errorf("%s %d is %q, in event.proto %s", enum.Name(), value.Number(), names[int32(value.Number())], value.Name())
			}
		}
	}
}
