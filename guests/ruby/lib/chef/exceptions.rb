# frozen_string_literal: true

# Defines Chef's exceptions with Chef's names and superclasses. Cookbooks rescue them, and the host raises them by name.

require_relative "constants"

# The one exception that belongs to Chef's configuration library.
module ChefConfig
  class ConfigurationError < ArgumentError; end
end

class Chef
  class Exceptions
    {
      RuntimeError => %w[
        Application SigInt SigTerm Cron WindowsEnv Exec Execute ErlCall FileNotFound Package Service Script Route SearchIndex
        Override UnsupportedAction MissingLibrary CannotDetermineNodeName User Group Link Mount PrivateKeyMissing
        CannotWritePrivateKey RoleNotFound DuplicateRole RedirectLimitExceeded CookbookNotFound CookbookMergingError
        AttributeNotFound NoSuchAttribute AttributeTypeMismatch InvalidCommandOption CommandTimeout RequestedUIDUnavailable
        DsclCommandFailed PlistUtilCommandFailed InvalidResourceReference ResourceNotFound ProviderNotFound
        VerificationNotFound MultipleIdentityError CurrentValueDoesNotExist SolrConnectionError IllegalChecksumRevert
        MissingParentDirectory UnresolvableGitReference InvalidRemoteGitReference Win32APIError Win32NotWindows
        WindowsNotAdmin Win32ArchitectureIncorrect Win32RegKeyMissing Win32RegValueMissing Win32RegDataMissing
        Win32RegValueExists Win32RegNoRecursive DuplicateDataBagItem PowershellCmdletException LCMParser AmbiguousYAMLFile
        FileContentStagingError InsufficientPermissions Ifconfig EnvironmentNotFound FileTypeMismatch InvalidSymlink
        ChildConvergeError DeprecatedFeatureError MissingRole ContentLengthMismatch UnsupportedPlatform RunLockTimeout
        ChecksumMismatch BadProxyURI AmbiguousProviderResolution RunFailedWrappingError DataCollectorConfigError
        OnlyApiVersion0SupportedForAction UnsupportedFeature PIDFileLockfileMatch GemRequirementConflict
        CookbookChefVersionMismatch CookbookOhaiVersionMismatch UnifiedModeImmediateSubscriptionEarlierResource
        UnifiedModeBeforeSubscriptionEarlierResource
      ],
      ArgumentError => %w[
        ValidationFailed CannotValidateStaticallyError InvalidPrivateKey MissingKeyAttribute KeyCommandInputError
        BootstrapCommandInputError InvalidKeyArgument InvalidKeyAttribute InvalidUserAttribute InvalidClientAttribute
        AmbiguousRunlistSpecification CookbookFrozen CookbookNotFoundInRepo RecipeNotFound InvalidHomeDirectory
        UserIDNotFound GroupIDNotFound ConflictingMembersInGroup InvalidEventType InvalidPolicybuilderCall
        InvalidResourceSpecification CookbookVersionNameMismatch InvalidEnvironmentRunListSpecification
        InvalidDataBagItemID InvalidDataBagName EnclosingDirectoryDoesNotExist ObsoleteDependencySyntax InvalidDataBagPath
        CookbookVersionConflict InvalidPlatformVersion InvalidCookbookVersion InvalidVersionConstraint InvalidRemoteFileURI
        Win32RegHiveMissing Win32RegTypeDoesNotExist Win32RegBadType Win32RegBadValueSize Win32RegTypesMismatch
        RegKeyValuesTypeMissing RegKeyValuesDataMissing InvalidEnvironmentPath InvalidSearchQuery
        InvalidRunListItem DSCModuleNameMissing
      ],
      StandardError => %w[
        MissingCookbookDependency MetadataNotValid MetadataNotFound StaleAttributeRead MultipleFailures InvalidRedirect
      ],
      NoMethodError => %w[ImmutableAttributeModification],
      NameError => %w[NoSuchResourceType],
      NotImplementedError => %w[IllegalVersionConstraint Win32APIFunctionNotImplemented],
      Exception => %w[Reboot RebootPending ClientUpgraded],
    }.each do |parent, names|
      names.each { |name| const_set(name, Class.new(parent)) }
    end

    NoProviderAvailable = ProviderNotFound
    ConfigurationError = ChefConfig::ConfigurationError
    class CannotDetermineHomebrewPath < Package; end
    class CannotDetermineWindowsInstallerType < Package; end
    class NoWindowsPackageSource < Package; end
    class Win32RegArchitectureIncorrect < Win32ArchitectureIncorrect; end

    # Raised by a write to the merged view. Cookbooks write attributes at a level, such as `node.default`.
    class ImmutableAttributeModification
      def initialize(message = nil)
        super(message || "Node attributes are read-only when you do not specify which precedence level to set. " \
                         "To set an attribute use code like `node.default[\"key\"] = \"value\"'")
      end
    end

    # Raised if no resource type of this name exists on this platform.
    class NoSuchResourceType
      def initialize(name, node = nil)
        return super(name) unless node

        super("Cannot find a resource for #{name} on #{node["platform"]} version #{node["platform_version"]} " \
              "with target_mode? false")
        near = Wrun::Hints.nearest_type(name.to_s, Chef.resource_handler_map.names)
        Wrun::Hints.attach(self, near && "did you mean `#{near}`?")
      end
    end

    # A cookbook without metadata.
    class MetadataNotFound
      attr_reader :install_path, :cookbook_name

      def initialize(install_path, cookbook_name = nil)
        @install_path = install_path
        @cookbook_name = cookbook_name
        super("No metadata.rb or metadata.json found for cookbook #{cookbook_name} in #{install_path}")
      end
    end

    # Raised if the content's checksum differs from the expected one.
    class ChecksumMismatch
      def initialize(wanted, found = nil)
        super(found ? "Checksum on resource (#{wanted}...) does not match checksum on content (#{found}...)" : wanted)
      end
    end

    # Raised for a feature that this platform lacks.
    class UnsupportedPlatform
      def initialize(platform) = super("This functionality is not supported on platform #{platform}.")
    end

    # The errors of fetching secrets.
    class Secret
      %w[RetrievalError ConfigurationInvalid FetchFailed MissingSecretName InvalidSecretName InvalidFetcherService MissingFetcher]
        .each { |name| const_set(name, Class.new(RuntimeError)) }

      class InvalidFetcherService
        def initialize(given, services)
          super("#{given} is not a supported secrets service.  Supported services are: :#{services.join(" :")}")
        end
      end

      class MissingFetcher
        def initialize(services) = super("No secret service provided. Supported services are: :#{services.join(" :")}")
      end
    end
  end
end

module Mixlib
  class ShellOut
    class Error < RuntimeError; end
    class ShellCommandFailed < Error; end
    class CommandTimeout < Error; end
    class InvalidCommandOption < Error; end
    class EmptyWindowsCommand < ShellCommandFailed; end
  end
end

class Chef
  class Exceptions
    class RebootFailed < Mixlib::ShellOut::ShellCommandFailed; end

    # Returns Mixlib's class for the old name `ShellCommandFailed`, with a warning.
    def self.const_missing(name)
      return super unless name == :ShellCommandFailed

      Log.warn("Chef::Exceptions::ShellCommandFailed is deprecated, use Mixlib::ShellOut::ShellCommandFailed")
      Log.warn(caller.first(4).inject("Called from:\n") { |text, frame| "#{text}  #{frame}\n" })
      Mixlib::ShellOut::ShellCommandFailed
    end
  end
end

require_relative "exceptions_in_words"

module Wrun
  # Raised if the policy lacks a grant. The message names the grant that would allow the call.
  class Denied < StandardError; end
end
