# frozen_string_literal: true

# Keys and certificates by the machine's `openssl`: the sandbox has no library for them. Secrets go to it by its
# environment and its input, where no other user of the machine sees them.

require "shellwords"

class Chef
  class Resource
    module OpensslCommands
      private

      def openssl(*words, input: nil, environment: {})
        shell_out!(["openssl", *words], input: input, environment: environment).stdout
      end

      # A new private key's text.
      def new_rsa_key(bits, password = nil, cipher = nil)
        text = openssl("genrsa", "-traditional", bits.to_s)
        password ? openssl("rsa", "-traditional", "-#{cipher}", "-passout", "env:WRUN_PASSWORD", input: text, environment: secret(password)) : text
      end

      def new_ec_key(curve, password = nil, cipher = nil)
        text = openssl("ecparam", "-name", curve, "-genkey", "-noout")
        password ? openssl("ec", "-#{cipher}", "-passout", "env:WRUN_PASSWORD", input: text, environment: secret(password)) : text
      end

      # The public key's text of a private one, which is a file's path or a text itself.
      def public_key(private_key, password)
        openssl("pkey", "-pubout", "-passin", "env:WRUN_PASSWORD", input: key_text(private_key), environment: secret(password))
      end

      def key_text(key) = ::File.exist?(key) ? ::File.read(key) : key

      # Whether something is a private key that opens.
      def private_key?(key, password)
        text = key_text(key)
        return false unless text.include?("PRIVATE KEY-----")

        tested = shell_out(["openssl", "pkey", "-noout", "-passin", "env:WRUN_PASSWORD"], input: text, environment: secret(password))
        !tested.error?
      rescue Errno::EROFS
        # A dry run that may start no command, where none can be confined, takes it for one.
        true
      end

      # A request to sign for a subject with a key.
      def new_request(subject, key, password)
        with_files("req", "-new", "-sha256", "-subj", subject, "-key", "<WRUN_KEY", "-passin", "env:WRUN_PASSWORD",
                   files: { "WRUN_KEY" => key }, environment: secret(password))
      end

      # The signature of some bytes' SHA-256 by a private key's text.
      def signature(bytes, key, password)
        with_files("dgst", "-sha256", "-binary", "-sign", "<WRUN_KEY", "-passin", "env:WRUN_PASSWORD", input: bytes,
                   files: { "WRUN_KEY" => key }, environment: secret(password)).b
      end

      # Runs `openssl` with files that are there for it alone: words that begin with `<` name one.
      def with_files(*words, files:, environment: {}, input: nil)
        line = words.map { |word| word.start_with?("<") ? "<(printf '%s' \"$#{word[1..]}\")" : Shellwords.escape(word) }
        shell_out!(["bash", "-c", "exec openssl #{line.join(" ")}"], environment: environment.merge(files), input: input).stdout
      end

      def secret(password) = { "WRUN_PASSWORD" => password.to_s }

      # `/C=DE/CN=a`, of the properties that a certificate's resource has for it.
      def subject_text
        names = { "C" => :country, "ST" => :state, "L" => :city, "O" => :org, "OU" => :org_unit, "CN" => :common_name,
                  "emailAddress" => :email }
        given = names.filter_map do |name, property|
          value = new_resource.public_send(property)
          "/#{name}=#{value.gsub(%r{[/+\\]}) { |sign| "\\#{sign}" }}" unless value.nil?
        end
        given.join
      end

      # Where the key lies that belongs to a certificate.
      def key_file
        return new_resource.key_file if new_resource.key_file

        folder, name = ::File.split(new_resource.path)
        "#{folder}/#{::File.basename(name, ::File.extname(name))}.key"
      end

      # The key that is there, or a new one.
      def key
        @key ||=
          if ::File.exist?(key_file) && private_key?(key_file, new_resource.key_pass) then ::File.read(key_file)
          elsif new_resource.key_type == "rsa" then new_rsa_key(new_resource.key_length)
          else new_ec_key(new_resource.key_curve)
          end
      end

      # A file of the resource's, owned as it says.
      def own_file(place, how, text, secret: false, permissions: new_resource.mode)
        given = new_resource
        file place do
          action how
          owner given.owner unless given.owner.nil?
          group given.group unless given.group.nil?
          mode permissions unless permissions.nil?
          sensitive true if secret
          content text unless text.nil?
        end
      end
    end
  end
end
