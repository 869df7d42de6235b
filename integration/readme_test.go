package integration

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/keyroute/keyroute/middleware"
)

// fence finds the fenced blocks of a page, with their languages.
var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

func readmeBlocks(t *testing.T, language string) []string {
	t.Helper()
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range fence.FindAllStringSubmatch(string(page), -1) {
		if m[1] == language {
			blocks = append(blocks, m[2])
		}
	}
	if len(blocks) == 0 {
		t.Fatalf("README.md has no %s block", language)
	}
	return blocks
}

func TestREADMEQuickStartIsTheProgramThatIsTested(t *testing.T) {
	program, err := os.ReadFile("quickstart/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if got := readmeBlocks(t, "go")[0]; got != string(program) {
		t.Error("the quick start of README.md differs from integration/quickstart/main.go")
	}
}

// TestREADMESnippetsCompile builds each of the other snippets as the body of a
// function that has what the snippets take for granted.
func TestREADMESnippetsCompile(t *testing.T) {
	for _, snippet := range readmeBlocks(t, "go")[1:] {
		folder := t.TempDir()
		program := snippetHead + snippet + "\n_ = client\n}\n"
		file := filepath.Join(folder, "snippet.go")
		if err := os.WriteFile(file, []byte(program), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "go", "vet", file).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, out, snippet)
		}
	}
}

const snippetHead = `package main

import (
	"context"
	"crypto/x509"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/metrics/smithyotelmetrics"
	"github.com/aws/smithy-go/tracing/smithyoteltracing"
	"github.com/keyroute/keyroute/middleware"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

var (
	_ = awshttp.NewBuildableClient
	_ = smithyotelmetrics.Adapt
	_ = smithyoteltracing.Adapt
	_ http.Handler
)

func main() {}

func snippet(ctx context.Context, cfg aws.Config, plugin *middleware.Plugin, in *dynamodb.BatchWriteItemInput,
	meterProvider metric.MeterProvider, tracerProvider trace.TracerProvider, roots *x509.CertPool) {
`

// TestREADMEShowsWhatOpenTelemetryGets keeps the output of the example true.
func TestREADMEShowsWhatOpenTelemetryGets(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	output, err := os.ReadFile("otel/testdata/output.txt")
	if err != nil {
		t.Fatal(err)
	}
	if want := regexp.MustCompile(`(?m)^(.)`).ReplaceAll(output, []byte("    $1")); !bytes.Contains(page, want) {
		t.Error("README.md does not show integration/otel/testdata/output.txt")
	}
}

func TestREADMEConfigurationIsRead(t *testing.T) {
	for _, block := range readmeBlocks(t, "json") {
		var o middleware.Options
		if err := json.Unmarshal([]byte(block), &o); err != nil {
			t.Errorf("%v\n%s", err, block)
			continue
		}
		if _, err := middleware.New(func(options *middleware.Options) { *options = o }); err != nil {
			t.Errorf("%v\n%s", err, block)
		}
	}
}

// TestREADMECommandsAreTargets checks that every make command that the pages
// name is a target.
func TestREADMECommandsAreTargets(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"} {
		text, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?m)(?:^    |`)make ([a-z-]+)").FindAllSubmatch(text, -1) {
			if !bytes.Contains(makefile, []byte("\n"+string(m[1])+":")) {
				t.Errorf("%s names `make %s`, which is not a target", page, m[1])
			}
		}
	}
}

// TestREADMEListsEveryOption keeps the options' table complete.
func TestREADMEListsEveryOption(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile("testdata/api/middleware.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, fields, _ := strings.Cut(string(record), "\ntype Options struct {\n")
	fields, _, _ = strings.Cut(fields, "\n}")
	for field := range strings.Lines(fields) {
		name, _, _ := strings.Cut(strings.TrimSpace(field), " ")
		if !strings.Contains(string(page), "| `"+name+"`") && !strings.Contains(string(page), "| `"+name+".") {
			t.Errorf("README.md does not list the option %s", name)
		}
	}
}
