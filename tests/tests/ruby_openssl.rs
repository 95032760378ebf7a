//! Keys, certificates and lists of revoked ones from a Ruby cookbook, judged by the machine's own `openssl`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use serde_json::Value;
use specs::{Machine, Network, Output, Program, Root};
use std::fs;

/// An authority with a key of each kind, and what it signs.
const RECIPE: &str = r#"
directory '/srv/ca'
{ 'rsa' => 'openssl_rsa_private_key', 'ec' => 'openssl_ec_private_key' }.each do |kind, type|
  declare_resource(type.to_sym, "/srv/ca/#{kind}.key") do
    key_pass node['password'] || 'locked'
    key_cipher 'aes-256-cbc'
  end
  openssl_x509_certificate "/srv/ca/#{kind}.crt" do
    common_name "The #{kind} authority"
    org 'Tests'
    country 'DE'
    key_file "/srv/ca/#{kind}.key"
    key_pass 'locked'
  end
  openssl_x509_crl "/srv/ca/#{kind}.crl" do
    ca_cert_file "/srv/ca/#{kind}.crt"
    ca_key_file "/srv/ca/#{kind}.key"
    ca_key_pass 'locked'
    serial_to_revoke node['revoke'] if node['revoke']
    serial_to_revoke 0xC7BCB6602A2E4251EF4E2827A228CB52BC0CEA2F if node['large']
    revocation_reason 1
    expire node['expire'] || 8
    mode '0640'
  end
end
openssl_x509_request '/srv/ca/web.csr' do
  common_name 'web'
end
openssl_x509_certificate '/srv/ca/own.crt' do
  csr_file '/srv/ca/web.csr'
  ca_key_file '/srv/ca/web.key'
end
openssl_rsa_private_key '/srv/ca/other.key'
openssl_x509_certificate '/srv/ca/other.crt' do
  csr_file '/srv/ca/web.csr'
  ca_key_file '/srv/ca/other.key'
end
openssl_x509_certificate '/srv/ca/signed.crt' do
  csr_file '/srv/ca/web.csr'
  ca_cert_file '/srv/ca/rsa.crt'
  ca_key_file '/srv/ca/rsa.key'
  ca_key_pass 'locked'
end
"#;

/// A cookbook on a machine of its own.
struct Place<'a> {
    program: Program,
    machine: Machine<'a>,
}

impl Place<'_> {
    /// Converges with attributes; returns name and status of each list.
    fn converge(&self, attributes: &str, more: &[&str]) -> Vec<String> {
        self.statuses("openssl_x509_crl", attributes, more)
    }

    /// Converges with attributes; returns name and status of each resource of a type.
    fn statuses(&self, kind: &str, attributes: &str, more: &[&str]) -> Vec<String> {
        let output = self.run(attributes, more, 0);
        let run: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in {output:?}"));
        let word = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let rows = run["resources"].as_array().unwrap();
        let rows = rows.iter().filter(|row| row["type"] == kind);
        rows.map(|row| format!("{} {}", word(row, "name"), word(row, "status"))).collect()
    }

    fn run(&self, attributes: &str, more: &[&str], code: i32) -> Output {
        let configuration = self.program.configuration();
        fs::write(configuration.join("attributes.json"), attributes).unwrap();
        let [cookbooks, attributes] =
            ["cookbooks", "attributes.json"].map(|name| configuration.join(name).display().to_string());
        let place = self.machine.root().path().display().to_string();
        let mut all = vec!["converge", "--node-name", "node1", "--cookbooks", &cookbooks, "--allow-all"];
        all.extend(["--root", &place, "--run-list", "recipe[pki]", "-j", &attributes, "--format", "json"]);
        all.extend(more);
        self.program.run_in(&self.machine, &all).unwrap().expect_code(code).unwrap()
    }

    /// What `openssl` of the machine says.
    fn openssl(&self, line: &str) -> String {
        let words: Vec<&str> = std::iter::once("openssl").chain(line.split(' ')).collect();
        let output = self.machine.run(&words).unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(output.status.success(), "{line}: {said}");
        said
    }
}

fn with_cookbook(test: impl FnOnce(&Place<'_>)) {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    for (path, text) in [("metadata.rb", "name 'pki'\n"), ("recipes/default.rb", RECIPE)] {
        let path = program.configuration().join("cookbooks/pki").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let machine = root.machine(Network::Own).unwrap();
    test(&Place { program, machine });
}

#[test]
fn lists_are_signed_renewed_and_added_to() {
    with_cookbook(|place| {
        assert_eq!(place.converge("{}", &["--why-run"]), ["/srv/ca/rsa.crl updated", "/srv/ca/ec.crl updated"]);
        assert!(!place.machine.root().exists("srv/ca"));
        assert_eq!(place.converge("{}", &[]), ["/srv/ca/rsa.crl updated", "/srv/ca/ec.crl updated"]);
        assert_eq!(place.converge("{}", &[]), ["/srv/ca/rsa.crl up-to-date", "/srv/ca/ec.crl up-to-date"]);
        let revoke = r#"{"revoke": "C7BCB6602A2E4251EF4E2827A228CB52BC0CEA2F"}"#;
        assert_eq!(place.converge(revoke, &[]), ["/srv/ca/rsa.crl updated", "/srv/ca/ec.crl updated"]);
        assert_eq!(place.converge(revoke, &[]), ["/srv/ca/rsa.crl up-to-date", "/srv/ca/ec.crl up-to-date"]);
        // A number has two forms; the smaller one comes first in the list.
        assert_eq!(place.converge(r#"{"revoke": 128}"#, &[]), ["/srv/ca/rsa.crl updated", "/srv/ca/ec.crl updated"]);
        assert_eq!(
            place.converge(r#"{"revoke": "80"}"#, &[]),
            ["/srv/ca/rsa.crl up-to-date", "/srv/ca/ec.crl up-to-date"]
        );
        // A number that is too large for the host is handed over by its digits.
        assert_eq!(
            place.converge(r#"{"large": true}"#, &[]),
            ["/srv/ca/rsa.crl up-to-date", "/srv/ca/ec.crl up-to-date"]
        );
        for kind in ["rsa", "ec"] {
            let list = place.openssl(&format!("crl -noout -text -in /srv/ca/{kind}.crl -CAfile /srv/ca/{kind}.crt"));
            for expect in [
                "verify OK",
                "Version 2 (0x1)",
                &format!("Issuer: C = DE, O = Tests, CN = The {kind} authority"),
                "X509v3 CRL Number: \n                3\n",
                "DirName:/C=DE/O=Tests",
                "Serial Number: 80\n",
                "Serial Number: C7BCB6602A2E4251EF4E2827A228CB52BC0CEA2F",
                "Key Compromise",
            ] {
                assert!(list.contains(expect), "{expect} in {list}");
            }
            assert!(list.find("Number: 80") < list.find("Number: C7BC"), "{list}");
        }
    });
}

#[test]
fn requests_are_signed_by_their_own_key_or_by_an_authority() {
    with_cookbook(|place| {
        place.converge("{}", &[]);
        for (authority, certificate) in [("own", "own"), ("rsa", "signed")] {
            let verified = place.openssl(&format!("verify -CAfile /srv/ca/{authority}.crt /srv/ca/{certificate}.crt"));
            assert_eq!(verified, format!("/srv/ca/{certificate}.crt: OK\n"));
        }
        // Whoever signs, the certificate is for the key of whoever asked.
        let asked = place.openssl("req -noout -pubkey -in /srv/ca/web.csr");
        for certificate in ["own", "other", "signed"] {
            assert_eq!(place.openssl(&format!("x509 -noout -pubkey -in /srv/ca/{certificate}.crt")), asked);
        }
    });
}

#[test]
fn a_dry_run_tells_a_locked_key_that_opens_from_one_that_does_not() {
    with_cookbook(|place| {
        place.converge("{}", &[]);
        let keys = |password: &str| {
            let attributes = format!(r#"{{"password": "{password}"}}"#);
            place.statuses("openssl_rsa_private_key", &attributes, &["--why-run"])
        };
        assert_eq!(keys("locked"), ["/srv/ca/rsa.key up-to-date", "/srv/ca/other.key up-to-date"]);
        assert_eq!(keys("wrong"), ["/srv/ca/rsa.key updated", "/srv/ca/other.key up-to-date"]);
    });
}

#[test]
fn a_list_that_ends_when_no_date_can_say_it_is_refused() {
    with_cookbook(|place| {
        let output = place.run(r#"{"expire": 3000000}"#, &[], 1);
        assert!(output.text().contains("a date between the years 1950 and 9999 is wanted"), "{output:?}");
        assert!(!place.machine.root().exists("srv/ca/rsa.crl"));
    });
}

#[test]
fn a_list_that_ends_soon_is_made_anew_with_what_it_had() {
    with_cookbook(|place| {
        place.converge(r#"{"expire": 1, "revoke": 77}"#, &[]);
        assert_eq!(place.converge(r#"{"expire": 30}"#, &[]), ["/srv/ca/rsa.crl updated", "/srv/ca/ec.crl updated"]);
        assert_eq!(
            place.converge(r#"{"expire": 30}"#, &[]),
            ["/srv/ca/rsa.crl up-to-date", "/srv/ca/ec.crl up-to-date"]
        );
        let list = place.openssl("crl -noout -text -in /srv/ca/ec.crl -CAfile /srv/ca/ec.crt");
        assert!(list.contains("verify OK") && list.contains("Serial Number: 4D"), "{list}");
    });
}
