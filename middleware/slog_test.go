package middleware

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"
)

// slogTo returns a logger that writes its records from a level on, one a line,
// without the time.
func slogTo(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

func TestSlogLoggerLevelsAndFormat(t *testing.T) {
	for name, test := range map[string]struct {
		classification logging.Classification
		format         string
		args           []any
		want           string
	}{
		"warning":        {logging.Warn, "node %s, attempt %d", []any{"a", 2}, `level=WARN msg="node a, attempt 2"`},
		"debug":          {logging.Debug, "retrying %v", []any{true}, `level=DEBUG msg="retrying true"`},
		"something else": {"TRACE", "x", nil, `level=DEBUG msg=x`},
		"a percent sign": {logging.Warn, "100%% of %d", []any{3}, `level=WARN msg="100% of 3"`},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			SlogLogger(slogTo(&out, slog.LevelDebug)).Logf(test.classification, test.format, test.args...)
			if got := out.String(); got != test.want+"\n" {
				t.Errorf("logged %q, want %q", got, test.want)
			}
		})
	}
}

func TestSlogLoggerKeepsTheLoggersAttributes(t *testing.T) {
	var out strings.Builder
	SlogLogger(slogTo(&out, slog.LevelInfo).With("service", "orders").WithGroup("g")).Logf(logging.Warn, "x")
	if got, want := out.String(), "level=WARN msg=x service=orders\n"; got != want {
		t.Errorf("logged %q, want %q", got, want)
	}
}

// unprintable is an argument that must not be formatted.
type unprintable struct{ t *testing.T }

// String implements fmt.Stringer.
func (u unprintable) String() string {
	u.t.Error("an argument was formatted for a level that is not enabled")
	return ""
}

func TestSlogLoggerOfALevelThatIsNotEnabledCostsNothing(t *testing.T) {
	for _, test := range []struct {
		level          slog.Level
		classification logging.Classification
	}{
		{slog.LevelInfo, logging.Debug},
		{slog.LevelError, logging.Debug},
		{slog.LevelError, logging.Warn},
	} {
		var out bytes.Buffer
		logger, args := SlogLogger(slogTo(&out, test.level)), []any{unprintable{t}}
		if n := testing.AllocsPerRun(100, func() { logger.Logf(test.classification, "x %v", args...) }); n != 0 {
			t.Errorf("%s at level %v: %v allocations, want none", test.classification, test.level, n)
		}
		if out.Len() > 0 {
			t.Errorf("%s at level %v: logged %q", test.classification, test.level, &out)
		}
	}
}

// httpClient answers requests from a function.
type httpClient func(*http.Request) (status int, body string)

// Do implements the HTTP client of the SDK and of discovery.
func (c httpClient) Do(r *http.Request) (*http.Response, error) {
	status, body := c(r)
	return &http.Response{
		StatusCode: status,
		Header:     http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:       io.NopCloser(strings.NewReader(body)),
		Request:    r,
	}, nil
}

// One logger can be that of the plugin, of the client, or of both: the
// plugin's warnings and the client's own lines then have their levels.
func TestSlogLoggerIsForThePluginAndForTheClient(t *testing.T) {
	const plugins, clients = "level=WARN msg=\"keyroute: the list of live nodes stays as it was", "level=DEBUG msg=\"Request\\nPOST /"
	for name, test := range map[string]struct {
		ofPlugin, ofClient bool
		want               []string
	}{
		"the plugin's":                      {true, false, []string{plugins}},
		"the client's, and so the plugin's": {false, true, []string{plugins, clients}},
		"of both":                           {true, true, []string{plugins, clients}},
		"of neither":                        {false, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer // read when everything that writes to it has stopped
			logger := SlogLogger(slogTo(&out, slog.LevelDebug))
			p, err := New(func(o *Options) {
				o.Seeds = []string{"http://10.0.0.1:8000"}
				if test.ofPlugin {
					o.Logger = logger
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			client := dynamodb.New(dynamodb.Options{
				Region:                          "us-east-1",
				Credentials:                     aws.AnonymousCredentials{},
				ClientLogMode:                   aws.LogRequest,
				DisableValidateResponseChecksum: true,
				HTTPClient: httpClient(func(r *http.Request) (int, string) {
					if r.Method == http.MethodGet {
						return http.StatusInternalServerError, "oops"
					}
					return http.StatusOK, `{"TableNames":[]}`
				}),
			}, func(o *dynamodb.Options) {
				if test.ofClient {
					o.Logger = logger
				}
			}, p.Attach)
			if err := p.Refresh(t.Context()); err == nil {
				t.Error("a list that nobody answers was refreshed")
			}
			if _, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
				t.Error(err)
			}
			if err := p.Close(context.Background()); err != nil {
				t.Error(err)
			}
			lines := slices.Sorted(strings.Lines(out.String()))
			slices.Reverse(lines) // warnings first
			if len(lines) != len(test.want) {
				t.Fatalf("%d lines, want %d:\n%s", len(lines), len(test.want), &out)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(lines[i], want) {
					t.Errorf("line %d is\n%swant it to begin with\n%s", i, lines[i], want)
				}
			}
		})
	}
}
