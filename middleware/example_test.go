package middleware_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/middleware"
)

func ExampleNew() {
	plugin, err := middleware.New(func(o *middleware.Options) {
		o.Mode = middleware.AnyWrite
		o.Seeds = []string{"http://10.0.0.1:8000", "http://10.0.0.2:8000"}
		o.Scope = discovery.Datacenter("dc1")
	})
	if err != nil {
		log.Fatal(err)
	}
	defer plugin.Close(context.Background())
	for _, node := range plugin.Nodes() {
		fmt.Println(node.Endpoint, node.State)
	}
	// Output:
	// http://10.0.0.1:8000 quarantined
	// http://10.0.0.2:8000 quarantined
}

func ExampleNew_mistakes() {
	_, err := middleware.New(func(o *middleware.Options) { o.Seeds = []string{"10.0.0.1:8000"} })
	fmt.Println(err)
	_, err = middleware.New(func(o *middleware.Options) { o.Seeds = []string{"http://10.0.0.1:8000/alternator"} })
	fmt.Println(err)
	// Output:
	// keyroute: endpoint "10.0.0.1:8000": must be scheme://host[:port]: first path segment in URL cannot contain colon
	// keyroute: seed "http://10.0.0.1:8000/alternator": must be scheme://host[:port] and nothing else
}

func ExamplePlugin_Attach() {
	plugin, err := middleware.New(func(o *middleware.Options) { o.Seeds = []string{"http://10.0.0.1:8000"} })
	if err != nil {
		log.Fatal(err)
	}
	defer plugin.Close(context.Background())

	cfg := aws.Config{Region: "us-east-1"}
	client := dynamodb.NewFromConfig(cfg, plugin.Attach)   // to a new client
	client = dynamodb.New(client.Options(), plugin.Attach) // to one that exists
	call := func(ctx context.Context, in *dynamodb.BatchWriteItemInput) error {
		out, err := client.BatchWriteItem(ctx, in, plugin.Attach) // to a single call
		if err == nil {
			decision, _ := middleware.DecisionOf(out.ResultMetadata)
			log.Println(decision.Reason, decision.Coordinator)
		}
		return err
	}
	_ = call
}

func ExamplePlugin_SetMode() {
	plugin, err := middleware.New(func(o *middleware.Options) { o.Seeds = []string{"http://10.0.0.1:8000"} })
	if err != nil {
		log.Fatal(err)
	}
	defer plugin.Close(context.Background())
	fmt.Println(plugin.Mode())
	if err := plugin.SetMode(middleware.AnyWrite); err != nil {
		log.Fatal(err)
	}
	fmt.Println(plugin.Mode())
	// Output:
	// none
	// any_write
}

func ExampleMode() {
	mode := middleware.None
	flags := flag.NewFlagSet("service", flag.ContinueOnError)
	flags.Var(&mode, "keyroute-mode", "none, rmw or any_write")
	if err := flags.Parse([]string{"-keyroute-mode=rmw"}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(mode)
	// Output: rmw
}

func ExampleOptions_UnmarshalJSON() {
	config := []byte(`{"mode": "any_write", "seeds": ["http://10.0.0.1:8000"], "connectTimeout": "500ms"}`)
	var options middleware.Options
	if err := json.Unmarshal(config, &options); err != nil {
		log.Fatal(err)
	}
	plugin, err := middleware.New(func(o *middleware.Options) { *o = options })
	if err != nil {
		log.Fatal(err)
	}
	defer plugin.Close(context.Background())
	fmt.Println(plugin.Mode(), options.ConnectTimeout)
	// Output: any_write 500ms
}

func ExampleCoordinatorError() {
	err := error(&middleware.CoordinatorError{Coordinator: "http://10.0.0.1:8000", Attempt: 2, Err: errors.New("connection refused")})
	var failed *middleware.CoordinatorError
	if errors.As(err, &failed) {
		fmt.Println(failed.Coordinator, failed.Attempt)
	}
	// Output: http://10.0.0.1:8000 2
}

func ExampleWithServerName() {
	httpClient := middleware.WithServerName(awshttp.NewBuildableClient(), "alternator.example.com")
	fmt.Println(httpClient.GetTransport().TLSClientConfig.ServerName)
	// Output: alternator.example.com
}

func ExampleSlogLogger() {
	_, err := middleware.New(func(o *middleware.Options) {
		o.Seeds = []string{"https://10.0.0.1:8043"}
		o.Logger = middleware.SlogLogger(slog.Default())
	})
	fmt.Println(err)
	// Output: <nil>
}
